/** Balances against what the service has recorded of their accounts. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Result } from "effect"
import { type AccountId, type ChainId, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import { type AccountBalances, type AccountRequest, Balances } from "#domain/chain/Balances.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { LastChanges } from "#domain/chain/LastChanges.ts"

const chainId = 8453 as ChainId
const account = (digit: string): AccountId => evmAccount(chainId, `0x${digit.repeat(40)}` as EvmAddress)
const [traded, untouched] = [account("1"), account("2")]

/** Chains whose readings are all of block 100, and a record in which one account changed in the given block. */
const reading = (changedAt: bigint) => {
  const asked: Array<AccountRequest> = []
  const at = DateTime.makeUnsafe(0)
  const answer: AccountBalances = { blockNumber: 100n, blockTime: at, balances: [] }
  const chains = Layer.succeed(Balances, {
    read: (of, assetIds, terms) =>
      Effect.sync(() => {
        asked.push({ account: of, assetIds, ...terms })
        return answer
      }),
    readMany: (_, accounts) =>
      Effect.sync(() => {
        asked.push(...accounts)
        return accounts.map(() => Result.succeed(answer))
      })
  })
  const recorded = Layer.succeed(LastChanges, { of: () => Effect.succeed(new Map([[traded, changedAt]])) })
  return { asked, layer: CurrentBalances.pipe(Layer.provide([chains, recorded])) }
}

describe("current balances", () => {
  it.effect("of a block before the account's last recorded change are refused as behind", () =>
    Effect.gen(function* () {
      const { layer } = reading(101n)
      const failure = yield* Effect.flip(
        Effect.provide(
          Effect.flatMap(Balances, ({ read }) => read(traded, [])),
          layer
        )
      )
      assert.deepStrictEqual([failure.isBehind, failure.chainId], [true, chainId])
      assert.include(failure.reason, "at block 100, before block 101")
    })
  )

  it.effect("of that very block are taken, and the adapter is told which block is needed", () =>
    Effect.gen(function* () {
      const { asked, layer } = reading(100n)
      const found = yield* Effect.provide(
        Effect.flatMap(Balances, ({ read }) => read(traded, [])),
        layer
      )
      assert.strictEqual(found.oldBecause, undefined)
      assert.deepStrictEqual(
        asked.map(({ notBefore }) => notBefore),
        [100n]
      )
    })
  )

  it.effect("a later block that is asked for counts", () =>
    Effect.gen(function* () {
      const { layer } = reading(90n)
      const read = Effect.flatMap(Balances, (balances) => balances.read(traded, [], { notBefore: 105n }))
      assert.isTrue((yield* Effect.flip(Effect.provide(read, layer))).isBehind)
    })
  )

  it.effect("that are only shown are answered, and say that they are old", () =>
    Effect.gen(function* () {
      const { layer } = reading(101n)
      const read = Effect.flatMap(Balances, (balances) => balances.read(traded, [], { takesOld: true }))
      assert.include((yield* Effect.provide(read, layer)).oldBecause, "before block 101")
    })
  )

  it.effect("of many accounts fail for those alone that have changed since", () =>
    Effect.gen(function* () {
      const { layer } = reading(101n)
      const read = Effect.flatMap(Balances, ({ readMany }) =>
        readMany(
          chainId,
          [traded, untouched].map((one) => ({ account: one, assetIds: [] }))
        )
      )
      const results = yield* Effect.provide(read, layer)
      assert.deepStrictEqual(results.map(Result.isSuccess), [false, true])
    })
  )
})
