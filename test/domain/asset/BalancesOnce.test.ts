/** Which of two entries counts, how long that is remembered, and what is done where nobody can know. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Result } from "effect"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { TokenEntryStore } from "#domain/asset/TokenEntryStore.ts"
import { type AssetId, evmAccount } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { addressOf } from "#layers/evm/address.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { readEach } from "#test/support/readEach.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"

const account = evmAccount(baseUsdc.chainId, addressOf(baseWeth.assetId))
const [btc, usdc, weth] = [baseBtc.assetId, baseUsdc.assetId, baseWeth.assetId]

const held = new Map<AssetId, bigint | null>()
/** Result of a made-up transfer by `<moved> <other>`; undefined where the chain does not answer. */
const shown = new Map<string, boolean | null>()
let asked = 0

const read: Balances["Service"]["read"] = (_account, assetIds) =>
  Effect.map(DateTime.now, (blockTime) => ({
    blockNumber: 1n,
    blockTime,
    balances: assetIds.map((assetId) => ({ assetId, raw: held.get(assetId) ?? null }))
  }))

const World = BalancesOnce.pipe(
  Layer.provide([
    Layer.succeed(Balances, { read, readMany: readEach(read) }),
    Layer.mock(TokenReader, {
      areOne: (_account, { one, other }) => {
        asked += 1
        const answer = shown.get(`${one} ${other}`)
        return answer === undefined
          ? Effect.fail(new ChainUnavailable({ chainId: baseUsdc.chainId, reason: "down" }))
          : Effect.succeed(answer)
      }
    })
  ]),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(TestChain.layer),
  Layer.provideMerge(MovableClock.layer)
)

const both = (one: AssetId, other: AssetId, answers: readonly [boolean | null, boolean | null]) => {
  shown.set(`${one} ${other}`, answers[0])
  shown.set(`${other} ${one}`, answers[1])
}

/** What is read of USDC, WETH and BTC. */
const counted = Effect.gen(function* () {
  const balances = yield* Balances
  const assetIds = [usdc, weth, btc]
  const { balances: alone } = yield* balances.read(account, assetIds)
  const [many] = yield* balances.readMany(baseUsdc.chainId, [{ account, assetIds }])
  assert.deepStrictEqual(Result.getOrThrow(many!).balances, alone)
  return alone.map(({ raw }) => raw)
})

describe("one balance under two addresses", () => {
  it.live("counts at the entry that strategies name, and is asked about once a day", () =>
    Effect.gen(function* () {
      const clock = yield* MovableClock
      yield* enrolledPortfolio
      yield* (yield* AssetStore).upsertAssets([baseUsdc, { ...baseWeth, decimals: 8 }, baseBtc])
      held.set(usdc, 500n).set(weth, 500n).set(btc, 500n)
      asked = 0

      assert.deepStrictEqual(yield* counted, [500n, 500n, 500n], "a chain that does not answer says nothing")
      assert.strictEqual(asked, 2, "of other decimals is another token")
      yield* counted
      assert.strictEqual(asked, 2, "it is not asked at each reading")
      both(weth, btc, [true, true])
      clock.advance(5 * 60_000)
      assert.deepStrictEqual(yield* counted, [500n, 500n, 0n], "the strategy names WETH")
      assert.strictEqual(asked, 4)

      held.set(weth, 7n).set(btc, 9n)
      assert.deepStrictEqual(yield* counted, [500n, 7n, 9n], "different amounts are different balances")
      held.set(weth, 9n)
      clock.advance(23 * 3_600_000)
      assert.deepStrictEqual(yield* counted, [500n, 9n, 0n])
      assert.strictEqual(asked, 4, "what was found is remembered")
      shown.clear()
      clock.advance(2 * 3_600_000)
      assert.deepStrictEqual(yield* counted, [500n, 9n, 0n], "a chain that does not answer takes nothing back")
      assert.strictEqual(asked, 6)
      both(weth, btc, [false, false])
      clock.advance(25 * 3_600_000)
      assert.deepStrictEqual(yield* counted, [500n, 9n, 9n], "two tokens after all")
    }).pipe(Effect.provide(World))
  )

  it.live("never counts at what only shows it", () =>
    Effect.gen(function* () {
      yield* (yield* AssetStore).upsertAssets([baseUsdc, baseWeth, baseBtc].map((one) => ({ ...one, decimals: 6 })))
      held.set(usdc, 500n).set(weth, 500n).set(btc, 500n)
      shown.clear()
      both(usdc, weth, [null, true])
      both(usdc, btc, [false, null])
      both(weth, btc, [false, false])
      assert.deepStrictEqual(yield* counted, [0n, 500n, 500n])
    }).pipe(Effect.provide(World))
  )

  it.live("counts at one of three entries, however they were judged against each other", () =>
    Effect.gen(function* () {
      const store = yield* TokenEntryStore
      yield* (yield* AssetStore).upsertAssets([baseUsdc, baseWeth, baseBtc].map((one) => ({ ...one, decimals: 6 })))
      held.set(usdc, 500n).set(weth, 500n).set(btc, 500n)
      const at = yield* DateTime.now
      const circle = [
        [usdc, weth],
        [weth, btc],
        [btc, usdc]
      ] as const
      for (const [one, other] of circle) {
        const { main } = yield* store.record(at, { one, other, areOne: true, only: one })
        assert.strictEqual(main, one)
      }
      assert.deepStrictEqual((yield* counted).toSorted(), [0n, 0n, 500n])
    }).pipe(Effect.provide(World))
  )
})
