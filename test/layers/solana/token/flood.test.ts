/** Accounts that strangers make for an owner, and powers that a thief left on the owner's: none hidden, none traded. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorityType, createApproveCheckedInstruction, createSetAuthorityInstruction } from "@solana/spl-token"
import { Keypair, type PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { foreignAuthorities, readHoldings } from "#layers/solana/token/readHoldings.ts"
import { prepareSwap } from "#layers/solana/trading/prepareSwap.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { onChain } from "#test/layers/solana/owners.ts"
import { dollars, jup, swapWorld } from "#test/layers/solana/trading/swapWorld.ts"
import { land, startTestChain } from "#test/sandbox/solana/support.ts"

const copies = 1_000

describe("an owner's accounts", () => {
  const world = swapWorld((emulations = new Map()) => startTestChain({ emulations }))

  /** Makes accounts as a stranger does: of a mint that is worth nothing, each fuller than anything of the owner's. */
  const flood = (deposit: PublicKey) => {
    const { ledger } = world.chain
    const template = ledger.account(tokenAccount(usdc, deposit))!
    const worthless = Keypair.generate().publicKey
    ledger.setAccount({ ...ledger.account(usdc.mint)!, key: worthless })
    for (let copy = 0; copy < copies; copy++) {
      const data = Buffer.from(template.data)
      worthless.toBuffer().copy(data, 0)
      data.writeBigUInt64LE(2n ** 63n + BigInt(copy), 64)
      ledger.setAccount({ ...template, key: Keypair.generate().publicKey, data: Uint8Array.from(data) })
    }
  }

  it.live("are found among a thousand fuller ones of a mint that is worth nothing, and are traded", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        flood(deposit)
        const { tokens } = yield* readHoldings(deposit)
        const rawOf = (mint: PublicKey) => tokens.find((token) => token.mint.equals(mint))?.raw
        assert.deepStrictEqual([rawOf(usdc.mint), rawOf(jup.mint)], [dollars, 9n])
        const { expectedRaw } = yield* prepareSwap(world.tradeOf(place))
        assert.isAbove(Number(expectedRaw), 0)
      })
    )
  )

  it.live("are not traded while a delegate may move what is in them", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        const { agent, chain } = world
        const thief = Keypair.generate().publicKey
        const { decimals, mint, program } = usdc
        const inner = [
          createApproveCheckedInstruction(tokenAccount(usdc, deposit), mint, thief, deposit, 1n, decimals, [], program)
        ]
        const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
        const { error } = yield* Effect.promise(async () =>
          land(chain, [await buildStep(agent.key, step)], [agent.pair])
        )
        assert.isNull(error)
        const { tokens } = yield* onChain(chain)(readHoldings(deposit))
        assert.deepStrictEqual(tokens.find((token) => token.mint.equals(mint))!.remarks, ["SHARED"])
        const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
        assert.strictEqual(refused._tag, "SwapRefused")
        assert.include(refused.message, thief.toBase58())
        assert.deepStrictEqual(world.jupiter.asked, [])
      })
    )
  )

  it.live("are not traded once one of them was given away, and its new owner is named", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        const { agent, chain } = world
        const thief = Keypair.generate().publicKey
        const { mint, program } = usdc
        const account = tokenAccount(usdc, deposit)
        for (const [kind, holder] of [
          [AuthorityType.CloseAccount, thief],
          [AuthorityType.AccountOwner, thief]
        ] as const) {
          const inner = [createSetAuthorityInstruction(account, deposit, kind, holder, [], program)]
          const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
          const { error } = yield* Effect.promise(async () =>
            land(chain, [await buildStep(agent.key, step)], [agent.pair])
          )
          assert.isNull(error)
          const holdings = yield* readHoldings(deposit, { mints: [mint, jup.mint] })
          assert.deepStrictEqual(foreignAuthorities(holdings), [{ assetId: usdc.assetId, holder: thief.toBase58() }])
          const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
          assert.strictEqual(refused._tag, "SwapRefused")
          assert.include(refused.message, thief.toBase58())
        }
        const { tokens } = yield* readHoldings(deposit, { mints: [mint] })
        assert.isEmpty(tokens, "what is in it is the thief's")
      })
    )
  )

  it.live("that a stranger gave with a close authority say nothing", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* world.funded
        const { ledger } = world.chain
        const own = ledger.account(tokenAccount(usdc, deposit))!
        const data = Buffer.from(own.data)
        data.writeUInt32LE(1, 129)
        Keypair.generate().publicKey.toBuffer().copy(data, 133)
        ledger.setAccount({ ...own, key: Keypair.generate().publicKey, data: Uint8Array.from(data) })
        const { tokens } = yield* readHoldings(deposit)
        assert.deepStrictEqual(tokens.find((token) => token.mint.equals(usdc.mint))!.remarks, [])
        assert.isEmpty(foreignAuthorities(yield* readHoldings(deposit)))
        yield* prepareSwap(world.tradeOf(place))
      })
    )
  )
})
