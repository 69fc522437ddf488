import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Day from "#domain/values/Day.ts"
import { makeStrategyId, type StrategyId } from "#domain/values/Ids.ts"
import { CurveStore } from "#domain/performance/CurveStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { insertStrategy, insertTenant, noon, usdc, weth } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

const created = Day.of(noon)
const wethOnly = (weight: number) => [
  { assetId: weth, weight },
  { assetId: usdc, weight: 10_000 - weight }
]

const publish = Effect.fnUntraced(function* (strategyId: StrategyId, weight: number, createdAt: DateTime.Utc) {
  yield* (yield* StrategyStore).publish({ strategyId, allocation: wethOnly(weight), changeLog: null, createdAt })
})

eachDatabase("CurveStore", (it) => {
  it.effect("a version is head of the days that begin after it, and the last of a day counts", () =>
    Effect.gen(function* () {
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      yield* publish(strategyId, 1000, DateTime.add(noon, { days: 1 }))
      yield* publish(strategyId, 2000, DateTime.add(noon, { days: 1, minutes: 1 }))
      yield* publish(strategyId, 3000, Day.start(Day.add(created, 4)))
      const store = yield* CurveStore
      const versions = yield* store.versions(strategyId, Day.add(created, -365))
      assert.deepStrictEqual(
        versions.map(({ allocation, fromDay }) => [fromDay - created, allocation.length, allocation[0]!.weight]),
        [
          [-365, 2, 4000],
          [2, 2, 2000],
          [4, 2, 3000]
        ]
      )
    })
  )

  it.effect("the first version is that of all time before, also when it was replaced on its first day", () =>
    Effect.gen(function* () {
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      yield* publish(strategyId, 1000, DateTime.add(noon, { minutes: 1 }))
      const versions = yield* (yield* CurveStore).versions(strategyId, Day.add(created, -9))
      assert.deepStrictEqual(
        versions.map(({ allocation, fromDay }) => [fromDay - created, allocation[0]!.weight]),
        [
          [-9, 4000],
          [1, 1000]
        ]
      )
    })
  )

  it.effect("leaves out the versions that were replaced before the first day", () =>
    Effect.gen(function* () {
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      for (const days of [1, 2, 3]) yield* publish(strategyId, days, DateTime.add(noon, { days }))
      const store = yield* CurveStore
      const weights = (from: number) =>
        Effect.map(store.versions(strategyId, Day.add(created, from)), (versions) =>
          versions.map(({ allocation }) => allocation[0]!.weight)
        )
      assert.deepStrictEqual(yield* weights(3), [2, 3])
      assert.deepStrictEqual(yield* weights(4), [3])
      assert.deepStrictEqual(yield* weights(400), [3])
    })
  )

  it.effect("an unknown strategy has none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* (yield* CurveStore).versions(yield* makeStrategyId, created), [])
    })
  )
})
