/**
 * False answers of Jupiter, and a program that does not do what it was asked: nothing is signed, or nothing happens.
 */
import { assert, it } from "@effect/vitest"
import { createTransferCheckedInstruction } from "@solana/spl-token"
import { AddressLookupTableProgram, Keypair, type PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { prepareSwap } from "#layers/solana/trading/prepareSwap.ts"
import { readLookupTables } from "#layers/solana/trading/readLookupTables.ts"
import { issue, issuer, pause, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type SplToken, usdc } from "#sandbox/assets/splCatalog.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import type { Built } from "#test/layers/solana/jupiterServer.ts"
import { fees } from "#test/layers/solana/owners.ts"
import { jup, sol, swapWorld, tesla } from "#test/layers/solana/trading/swapWorld.ts"

eachSwig("false answers", (start) => {
  const world = swapWorld(start)
  const stranger = Keypair.generate().publicKey.toBase58()
  const at = (built: Built, index: number, part: object) => ({
    ...built,
    swapInstruction: {
      ...built.swapInstruction,
      accounts: built.swapInstruction.accounts.map((meta, place) => (place === index ? { ...meta, ...part } : meta))
    }
  })
  const data = (built: Built, write: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(built.swapInstruction.data, "base64")
    write(bytes)
    return { ...built, swapInstruction: { ...built.swapInstruction, data: bytes.toString("base64") } }
  }
  const setup = (built: Built, index: number, pubkey: string) => ({
    ...built,
    setupInstructions: built.setupInstructions.map((one) => ({
      ...one,
      accounts: one.accounts.map((meta, place) => (place === index ? { ...meta, pubkey } : meta))
    }))
  })
  const lies: ReadonlyArray<readonly [string, (built: Built) => unknown, RegExp]> = [
    [
      "a foreign program",
      (b) => ({ ...b, swapInstruction: { ...b.swapInstruction, programId: stranger } }),
      /it calls/
    ],
    ["a foreign setup", (b) => ({ ...b, setupInstructions: [{ ...b.swapInstruction }] }), /its setup calls/],
    ["another instruction", (b) => ({ ...b, otherInstructions: [b.swapInstruction] }), /were not requested/],
    ["a tip", (b) => ({ ...b, tipInstruction: b.swapInstruction }), /a tip/],
    ["a cleanup", (b) => ({ ...b, cleanupInstruction: b.swapInstruction }), /cleans up/],
    ["a foreign taker", (b) => at(b, 0, { pubkey: stranger }), /its taker/],
    ["a foreign source", (b) => at(b, 1, { pubkey: stranger }), /its source/],
    ["a foreign destination", (b) => at(b, 2, { pubkey: stranger }), /its destination/],
    ["a foreign receiver", (b) => at(b, 7, { pubkey: stranger }), /its receiver/],
    ["a foreign signer", (b) => at(b, 10, { isSigner: true }), /signs it/],
    ["the agent as an account", (b) => at(b, 10, { pubkey: world.agent.key.toBase58() }), /no part in the trade/],
    ["a writable sub-account", (b) => at(b, 0, { isWritable: true }), /the sub-account itself/],
    ["a foreign event authority", (b) => at(b, 8, { pubkey: stranger }), /its event authority/],
    ["an account of somebody else in the setup", (b) => setup(b, 2, stranger), /opens an account of/],
    ["another account than the associated one", (b) => setup(b, 1, stranger), /its setup opens/],
    ["another program's account", (b) => setup(b, 5, stranger), /of no token program/],
    ["another mint", (b) => ({ ...b, outputMint: jup.mint.toBase58() }), /it buys/],
    ["another amount", (b) => ({ ...b, inAmount: "1" }), /it sells/],
    ["another amount in the data", (b) => data(b, (bytes) => bytes.writeBigUInt64LE(2n, 8)), /its data sells/],
    ["a quote of nothing in the data", (b) => data(b, (bytes) => bytes.writeBigUInt64LE(0n, 16)), /below the minimum/],
    ["all slippage in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(10_000, 24)), /below the minimum/],
    ["a fee in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(5, 26)), /its data has a fee/],
    ["another instruction of Jupiter", (b) => data(b, (bytes) => bytes.writeUInt8(0, 0)), /neither Jupiter's/],
    ["no data", (b) => ({ ...b, swapInstruction: { ...b.swapInstruction, data: "" } }), /bytes expected/]
  ]
  it.live.each(lies)("%s is refused before anything is signed", ([, lie, words]) =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        world.jupiter.change = lie
        const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
        assert.strictEqual(refused._tag, "SwapRefused")
        assert.match(refused.message, words)
      })
    )
  )

  const sharedLies: ReadonlyArray<readonly [string, (built: Built) => unknown, RegExp]> = [
    ["a foreign authority", (b) => at(b, 0, { pubkey: stranger }), /its program authority/],
    ["a foreign taker", (b) => at(b, 1, { pubkey: stranger }), /its taker/],
    ["a foreign source", (b) => at(b, 2, { pubkey: stranger }), /its source/],
    ["a foreign destination", (b) => at(b, 5, { pubkey: stranger }), /its destination/],
    ["another authority's number", (b) => data(b, (bytes) => bytes.writeUInt8(4, 8)), /its program authority/],
    ["another amount in the data", (b) => data(b, (bytes) => bytes.writeBigUInt64LE(2n, 9)), /its data sells/],
    ["all slippage in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(10_000, 25)), /below the minimum/],
    ["a fee in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(5, 29)), /its data has a fee/]
  ]
  it.live.each(sharedLies)("%s in a shared route is refused before anything is signed", ([, lie, words]) =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        world.jupiter.form = "sharedAccounts"
        world.jupiter.change = lie
        assert.match((yield* Effect.flip(prepareSwap(world.tradeOf(place)))).message, words)
      })
    )
  )

  it.live("an account of the owner that nobody would expect among the written ones is refused", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        const hidden = Keypair.generate().publicKey
        world.chain.ledger.setAccount({ ...world.chain.ledger.account(tokenAccount(jup, deposit))!, key: hidden })
        world.jupiter.change = (built) => at(built, 11, { pubkey: hidden.toBase58() })
        assert.match((yield* Effect.flip(prepareSwap(world.tradeOf(place)))).message, /has no part in the trade/)
      })
    )
  )

  const thefts: ReadonlyArray<readonly [string, SplToken, bigint]> = [
    ["what is passed on the way", usdc, 1n],
    ["more of what is sold", sol, 1n],
    ["of what is bought more than the minimum allows", jup, 10n]
  ]
  it.live.each(thefts)("a program that takes %s has no effect, whatever it was told", ([, token, amount]) =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        issue(world.chain.ledger, deposit, { token: sol, amountRaw: 1_000_000_000n })
        const thief = issuer
        issue(world.chain.ledger, thief, { token, amountRaw: 0n })
        const leg = { sell: world.mintOf(sol), buy: world.mintOf(jup), sellRaw: 500_000_000n, minBuyRaw: 1n }
        const { expectedRaw } = yield* prepareSwap({ place, leg, slippageBps: 0, agent: world.agent, fees })
        const { decimals, mint, program } = token
        world.stolen = [
          createTransferCheckedInstruction(
            tokenAccount(token, deposit),
            mint,
            tokenAccount(token, thief),
            deposit,
            amount,
            decimals,
            [],
            program
          )
        ]
        const minimum = { ...leg, minBuyRaw: expectedRaw }
        const refused = yield* Effect.flip(
          prepareSwap({ place, leg: minimum, slippageBps: 0, agent: world.agent, fees })
        )
        assert.deepInclude(refused, { _tag: "SimulationFailed" })
        // Insufficient funds, of the token program.
        assert.match(refused.message, /"Custom":1\}/)
      })
    )
  )

  it.live("less than our own minimum is refused, whatever is quoted", () =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        const { expectedRaw } = yield* prepareSwap(world.tradeOf(place))
        const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place, expectedRaw)))
        assert.match(refused.message, /below the minimum/)
      })
    )
  )

  it.live("a paused token is not traded", () =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        pause(world.chain.ledger, tesla)
        const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
        resume(world.chain.ledger, tesla)
        assert.match(refused.message, /its issuer has paused it/)
        assert.deepStrictEqual(world.jupiter.asked, [])
      })
    )
  )

  it.live("a lookup table is taken as the chain has it, and refused where the claim differs", () =>
    world.run(
      Effect.gen(function* () {
        const authority = issuer
        const [create, table] = AddressLookupTableProgram.createLookupTable({
          authority,
          payer: authority,
          recentSlot: world.chain.ledger.slot - 1n
        })
        const [known, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
        world.chain.ledger.operate(authority, [create])
        world.chain.ledger.operate(authority, [
          AddressLookupTableProgram.extendLookupTable({
            authority,
            payer: authority,
            lookupTable: table,
            addresses: [known]
          })
        ])
        const claim = (key: PublicKey, address: PublicKey) =>
          readLookupTables({ [key.toBase58()]: [address.toBase58()] })
        const [read] = yield* claim(table, known)
        assert.isTrue(read!.state.addresses[0]!.equals(known))
        assert.match((yield* Effect.flip(claim(table, other))).message, /holds other addresses/)
        assert.match((yield* Effect.flip(claim(known, known))).message, /is no lookup table/)
        assert.match((yield* Effect.flip(claim(usdc.mint, known))).message, /is no lookup table/)
      })
    )
  )
})
