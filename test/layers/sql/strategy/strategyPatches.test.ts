import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { makeStrategyId } from "#domain/values/Ids.ts"
import type { LabelsRefusal } from "#domain/values/Labels.ts"
import type { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"
import { type StrategyPatch, StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertStrategy, insertTenant, usdc } from "#test/layers/sql/fixtures.ts"

const one = [{ assetId: usdc, weight: 10_000 }]

/** Every choice of fields that a patch may have. */
const subsets = <Fields extends object>(fields: Fields): ReadonlyArray<Partial<Fields>> =>
  Object.entries(fields).reduce<ReadonlyArray<Partial<Fields>>>(
    (made, [key, value]) => made.flatMap((subset) => [subset, { ...subset, [key]: value }]),
    [{}]
  )

eachDatabase("patches of StrategyStore", (it) => {
  it.effect("update writes the fields that it has, for every choice of fields", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      const triggers: StrategyTriggers = { drift: { band: { kind: "relative", width: 2_000 } } }
      const patches: ReadonlyArray<
        Pick<StrategyPatch, "name" | "description" | "isPublic"> & { readonly triggers?: StrategyTriggers }
      > = [
        ...subsets({ name: "N", description: "D", isPublic: true, triggers }),
        { description: null },
        { isPublic: false }
      ]
      for (const patch of patches) {
        const strategy = yield* insertStrategy(tenantId)
        const updated = yield* store.update({ tenantId, strategyId: strategy.strategyId }, patch)
        assert.deepStrictEqual(updated, Option.some<Strategy>({ ...strategy, ...patch }))
        assert.deepStrictEqual(yield* store.find(strategy.strategyId), updated)
        const cleared = yield* store.update({ tenantId, strategyId: strategy.strategyId }, { triggers: null })
        assert.isUndefined(Option.getOrThrow(cleared).triggers)
      }
    })
  )

  it.effect("patchSwap writes the fields that it has, for every choice of fields", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      const patches: ReadonlyArray<Partial<SwapPreferences>> = [
        ...subsets({ slippageBps: 0, priceImpactBps: 1000, thresholdUsd: 1n }),
        ...subsets({ slippageBps: null, priceImpactBps: null, thresholdUsd: null })
      ]
      for (const patch of patches) {
        const strategy = yield* insertStrategy(tenantId)
        const swap = { ...strategy.swap, ...patch }
        assert.deepStrictEqual(
          yield* store.patchSwap({ tenantId, strategyId: strategy.strategyId }, patch),
          Option.some(swap)
        )
        assert.deepStrictEqual(yield* store.find(strategy.strategyId), Option.some({ ...strategy, swap }))
      }
    })
  )

  it.effect("a fee is unset, set, kept and cleared", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      const { strategyId } = yield* insertStrategy(tenantId)
      assert.deepStrictEqual(yield* store.fee({ tenantId, strategyId }), Option.some({ swapBps: null }))
      for (const [patch, swapBps] of [
        [{ swapBps: 300 }, 300],
        [{}, 300],
        [{ swapBps: null }, null]
      ] as const) {
        assert.deepStrictEqual(yield* store.patchFee({ tenantId, strategyId }, patch), Option.some({ swapBps }))
        assert.deepStrictEqual(yield* store.fee({ tenantId, strategyId }), Option.some({ swapBps }))
      }
    })
  )

  it.effect("a strategy of another tenant, and an unknown one, are left alone", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const strategy = yield* insertStrategy(yield* insertTenant)
      const stranger = yield* insertTenant
      for (const strategyId of [strategy.strategyId, yield* makeStrategyId]) {
        const answers: ReadonlyArray<Option.Option<unknown>> = [
          yield* store.update({ tenantId: stranger, strategyId }, { name: "mine" }),
          yield* store.update({ tenantId: stranger, strategyId }, {}),
          yield* store.patchSwap({ tenantId: stranger, strategyId }, { slippageBps: 1 }),
          yield* store.patchSwap({ tenantId: stranger, strategyId }, {}),
          yield* store.patchFee({ tenantId: stranger, strategyId }, { swapBps: 1 }),
          yield* store.fee({ tenantId: stranger, strategyId })
        ]
        assert.isTrue(answers.every(Option.isNone))
      }
      assert.deepStrictEqual(yield* store.find(strategy.strategyId), Option.some(strategy))
      assert.deepStrictEqual(
        yield* store.fee({ tenantId: strategy.tenantId, strategyId: strategy.strategyId }),
        Option.some({ swapBps: null })
      )
    })
  )

  it.effect("concurrent patches of different fields all last", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      for (let round = 0; round < 10; round++) {
        const { strategyId } = yield* insertStrategy(tenantId)
        const writes: ReadonlyArray<Effect.Effect<unknown, LabelsRefusal>> = [
          store.update({ tenantId, strategyId }, { name: "N" }),
          store.update({ tenantId, strategyId }, { description: "D" }),
          store.update({ tenantId, strategyId }, { isPublic: true }),
          store.patchSwap({ tenantId, strategyId }, { slippageBps: 1 }),
          store.patchSwap({ tenantId, strategyId }, { priceImpactBps: 2 }),
          store.patchSwap({ tenantId, strategyId }, { thresholdUsd: 3n }),
          store.setFrequency({ tenantId, strategyId }, "hourly", after(0)),
          store.patchFee({ tenantId, strategyId }, { swapBps: 4 })
        ]
        yield* Effect.all(writes, { concurrency: "unbounded" })
        const { description, isPublic, name, schedule, swap } = Option.getOrThrow(yield* store.find(strategyId))
        assert.deepStrictEqual(
          { name, description, isPublic, swap, schedule },
          {
            name: "N",
            description: "D",
            isPublic: true,
            swap: { slippageBps: 1, priceImpactBps: 2, thresholdUsd: 3n },
            schedule: { type: "interval", frequency: "hourly" }
          }
        )
        assert.deepStrictEqual(yield* store.fee({ tenantId, strategyId }), Option.some({ swapBps: 4 }))
      }
    })
  )

  it.effect("an update beside publications answers a strategy every time", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      const { strategyId } = yield* insertStrategy(tenantId)
      const rounds = Array.from({ length: 30 }, (_, n) => n)
      const update = (n: number) => store.update({ tenantId, strategyId }, { name: `N${n}` })
      const publish = () => store.publish({ strategyId, allocation: one, changeLog: null, createdAt: after(1) })
      const [updates] = yield* Effect.all(
        [Effect.forEach(rounds, update, { concurrency: 5 }), Effect.forEach(rounds, publish, { concurrency: 5 })],
        { concurrency: "unbounded" }
      )
      assert.isTrue(updates.every(Option.isSome))
      assert.strictEqual(Option.getOrThrow(yield* store.find(strategyId)).version, 31)
    })
  )

  it.effect("reads the operator's switch and the advertised yield", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const sql = yield* SqlClient.SqlClient
      const strategy = yield* insertStrategy(yield* insertTenant)
      yield* sql`UPDATE strategies SET can_mirror = true, max_apy = 12.34 WHERE strategy_id = ${strategy.strategyId}`
      assert.deepStrictEqual(
        yield* store.find(strategy.strategyId),
        Option.some({ ...strategy, canMirror: true, maxApy: 12_340_000_000_000_000_000n })
      )
    })
  )
})
