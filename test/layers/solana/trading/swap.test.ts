/** Swaps for a sub-account: what is true passes and trades, and every false answer is refused before a signature. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { AddressLookupTableProgram, Keypair, PublicKey } from "@solana/web3.js"
import { Effect, Layer, Redacted, Result } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { spl } from "#domain/values/Caip.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint } from "#layers/solana/token/Mint.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { amountsOf, prepareSwap, swapResult } from "#layers/solana/trading/prepareSwap.ts"
import { readLookupTables } from "#layers/solana/trading/readLookupTables.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import {
  installMints,
  issue,
  issueLamports,
  issuer,
  pause,
  resume,
  tokenAccount
} from "#sandbox/solana/market/issuer.ts"
import { buildSwap } from "#sandbox/solana/market/jupiterBuild.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, splCatalog, splTokenOf, usdc } from "#sandbox/assets/splCatalog.ts"
import { installPools } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { carriedOut, enrollSolana, fees, newAgent } from "#test/layers/solana/owners.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

type Built = NonNullable<ReturnType<typeof buildSwap>>

eachSwig("swaps", (start) => {
  let chain: TestChain
  let agent: ReturnType<typeof newAgent>
  let server: Server
  let change: (built: Built) => unknown
  let asked: Array<string> = []
  const layer = () =>
    Layer.merge(
      SolanaRpc.layer([Redacted.make(chain.url)]),
      JupiterClient.layer({
        baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        apiKey: null
      })
    )
  const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc | JupiterClient>) =>
    Effect.suspend(() => Effect.provide(effect, layer()))

  beforeAll(async () => {
    chain = await start(new Map([[jupiterProgram.toBase58(), emulateJupiter]]))
    agent = newAgent(chain)
    installMints(chain.ledger)
    installPools(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
    server = createServer((request, response) => {
      const query = new URL(request.url!, "http://127.0.0.1").searchParams
      asked.push(query.get("maxAccounts")!)
      const built = buildSwap(chain.ledger, {
        from: splTokenOf(query.get("inputMint")!)!,
        to: splTokenOf(query.get("outputMint")!)!,
        amount: BigInt(query.get("amount")!),
        slippageBps: Number(query.get("slippageBps")),
        taker: new PublicKey(query.get("taker")!)
      })!
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(change(built)))
    })
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  })
  beforeEach(() => {
    change = (built) => built
    asked = []
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await chain.close()
  })

  const tesla = splCatalog.find(({ symbol }) => symbol === "TSLAx")!
  const jup = splCatalog.find(({ symbol }) => symbol === "JUP")!
  const sol = splCatalog.find(({ symbol }) => symbol === "SOL")!
  const mintOf = (token: SplToken) => {
    const { data, lamports } = chain.ledger.account(token.mint)!
    return Result.getOrThrow(decodeMint(token.mint, { data, lamports, owner: token.program }))
  }
  const dollars = 1_000_000_000n
  const tradeOf = (place: Parameters<typeof prepareSwap>[0]["place"], minBuyRaw = 1n) => ({
    place,
    leg: { sell: mintOf(usdc), buy: mintOf(tesla), sellRaw: dollars, minBuyRaw },
    slippageBps: 50,
    agent,
    fees
  })
  const funded = Effect.gen(function* () {
    const enrolled = yield* enrollSolana(chain, agent, Keypair.generate())
    issue(chain.ledger, enrolled.deposit, { token: usdc, amountRaw: dollars })
    issue(chain.ledger, enrolled.deposit, { token: jup, amountRaw: 9n })
    return enrolled
  })

  describe("true answers", () => {
    it.live("a leg trades what was asked, and balances before and after say so", () =>
      run(
        Effect.gen(function* () {
          const { deposit, place } = yield* funded
          const trade = tradeOf(place)
          const prepared = yield* prepareSwap(trade)
          const { outcome } = yield* carriedOut(chain, signedByAgent(agent, prepared))
          assert.strictEqual(outcome._tag, "Landed")
          const after = yield* readHoldings(deposit, { atLeastSlot: outcome.slot })
          const { minBuyRaw, sellRaw } = trade.leg
          const asked = { sell: spl(usdc.mint.toBase58()), buy: spl(tesla.mint.toBase58()), sellRaw, minBuyRaw }
          const result = swapResult(asked, amountsOf(prepared.before), amountsOf(after))
          assert.deepStrictEqual(result, { soldRaw: dollars, boughtRaw: prepared.expectedRaw, isAsPlanned: true })
          const more = { ...asked, minBuyRaw: prepared.expectedRaw + 1n }
          const short = swapResult(more, amountsOf(prepared.before), amountsOf(after))
          assert.isFalse(short.isAsPlanned)
        })
      )
    )

    it.live("SOL that came as lamports is sold as it is: wrapped in the same transaction, and the rent stays", () =>
      run(
        Effect.gen(function* () {
          const { deposit, place } = yield* enrollSolana(chain, agent, Keypair.generate())
          const [lamports, wrapped] = [700_000_000n, 300_000_000n]
          issueLamports(chain.ledger, deposit, lamports)
          issue(chain.ledger, deposit, { token: sol, amountRaw: wrapped })
          const leg = { sell: mintOf(sol), buy: mintOf(usdc), sellRaw: 900_000_000n, minBuyRaw: 1n }
          const prepared = yield* prepareSwap({ place, leg, slippageBps: 50, agent, fees })
          const { outcome } = yield* carriedOut(chain, signedByAgent(agent, prepared))
          assert.strictEqual(outcome._tag, "Landed")
          const after = yield* readHoldings(deposit, { atLeastSlot: outcome.slot })
          const asked = { sell: sol.assetId, buy: usdc.assetId, sellRaw: leg.sellRaw, minBuyRaw: leg.minBuyRaw }
          const result = swapResult(asked, amountsOf(prepared.before), amountsOf(after))
          assert.deepStrictEqual(result, { soldRaw: leg.sellRaw, boughtRaw: prepared.expectedRaw, isAsPlanned: true })
          const left = after.tokens.find(({ assetId }) => assetId === sol.assetId)!
          assert.deepInclude(left, { raw: 100_000_000n, lamports: 100_000_000n })
          assert.strictEqual(chain.ledger.account(deposit)!.lamports, chain.ledger.rentOf(0) + 100_000_000n)
        })
      )
    )

    it.live("a route that does not fit is asked for again over fewer accounts, and then reported with its size", () =>
      run(
        Effect.gen(function* () {
          const { place } = yield* funded
          const widen = (built: Built, count: number) => ({
            ...built,
            swapInstruction: {
              ...built.swapInstruction,
              accounts: [
                ...built.swapInstruction.accounts,
                ...Array.from({ length: count }, () => ({
                  pubkey: Keypair.generate().publicKey.toBase58(),
                  isSigner: false,
                  isWritable: false
                }))
              ]
            }
          })
          change = (built) => (asked.length === 1 ? widen(built, 40) : built)
          yield* prepareSwap(tradeOf(place))
          assert.deepStrictEqual(asked, ["40", "20"])
          asked = []
          change = (built) => widen(built, 40)
          const refused = yield* Effect.flip(prepareSwap(tradeOf(place)))
          assert.strictEqual(refused._tag, "TransactionDoesNotFit")
          assert.match(refused.message, /1232|fewer accounts/)
          assert.deepStrictEqual(asked, ["40", "20", "10"])
        })
      )
    )
  })

  describe("false answers", () => {
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
      ["the agent as an account", (b) => at(b, 10, { pubkey: agent.key.toBase58() }), /no part in the trade/],
      ["a writable sub-account", (b) => at(b, 0, { isWritable: true }), /the sub-account itself/],
      ["another mint", (b) => ({ ...b, outputMint: jup.mint.toBase58() }), /it buys/],
      ["another amount", (b) => ({ ...b, inAmount: "1" }), /it sells/],
      ["another amount in the data", (b) => data(b, (bytes) => bytes.writeBigUInt64LE(2n, 8)), /its data sells/],
      ["a quote of nothing in the data", (b) => data(b, (bytes) => bytes.writeBigUInt64LE(0n, 16)), /below the floor/],
      ["all slippage in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(10_000, 24)), /below the floor/],
      ["a fee in the data", (b) => data(b, (bytes) => bytes.writeUInt16LE(5, 26)), /its data has a fee/],
      ["another instruction of Jupiter", (b) => data(b, (bytes) => bytes.writeUInt8(0, 0)), /not Jupiter's route_v2/],
      ["no data", (b) => ({ ...b, swapInstruction: { ...b.swapInstruction, data: "" } }), /bytes expected/]
    ]
    it.live.each(lies)("%s is refused before anything is signed", ([, lie, words]) =>
      run(
        Effect.gen(function* () {
          const { place } = yield* funded
          change = lie
          const refused = yield* Effect.flip(prepareSwap(tradeOf(place)))
          assert.strictEqual(refused._tag, "SwapRefused")
          assert.match(refused.message, words)
        })
      )
    )

    it.live("another token account of the owner among the accounts is refused", () =>
      run(
        Effect.gen(function* () {
          const { deposit, place } = yield* funded
          change = (built) => at(built, 11, { pubkey: tokenAccount(jup, deposit).toBase58() })
          assert.match((yield* Effect.flip(prepareSwap(tradeOf(place)))).message, /no part in the trade/)
        })
      )
    )

    it.live("less than our own floor is refused, whatever is quoted", () =>
      run(
        Effect.gen(function* () {
          const { place } = yield* funded
          const { expectedRaw } = yield* prepareSwap(tradeOf(place))
          const refused = yield* Effect.flip(prepareSwap(tradeOf(place, expectedRaw)))
          assert.match(refused.message, /below the floor/)
        })
      )
    )

    it.live("a paused token is not traded", () =>
      run(
        Effect.gen(function* () {
          const { place } = yield* funded
          pause(chain.ledger, tesla)
          const refused = yield* Effect.flip(prepareSwap(tradeOf(place)))
          resume(chain.ledger, tesla)
          assert.match(refused.message, /its issuer has paused it/)
          assert.deepStrictEqual(asked, [])
        })
      )
    )

    it.live("a lookup table is taken as the chain has it, and refused where the claim differs", () =>
      run(
        Effect.gen(function* () {
          const authority = issuer
          const [create, table] = AddressLookupTableProgram.createLookupTable({
            authority,
            payer: authority,
            recentSlot: chain.ledger.slot - 1n
          })
          const [known, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
          chain.ledger.operate(authority, [create])
          chain.ledger.operate(authority, [
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
})
