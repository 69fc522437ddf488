import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AnalyticsStore, type MeasuredWindows, type Measuring } from "#domain/discovery/AnalyticsStore.ts"
import { StrategyAnalytics } from "#domain/discovery/StrategyAnalytics.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { testSettings, TestSettings } from "#test/support/settings.ts"

const { intervalMs } = testSettings.discovery
const window: PerformanceWindow = { window: "1d", percentChange: 5n, since: "1970-01-01" }

/** Strategies of which every one is outdated until its windows are saved, and what became of them. */
const world = (strategies: number) => {
  const state = {
    claimedAt: null as number | null,
    claims: 0,
    isFailing: false,
    failsFor: "",
    measured: [] as Array<Measuring>,
    finished: [] as Array<number>,
    windowsAt: new Map<string, number>(
      Array.from({ length: strategies }, (_, n) => [`strategy ${String(n).padStart(5, "0")}`, -1])
    ),
    saved: new Map<string, MeasuredWindows["windows"]>(),
    batches: [] as Array<number>,
    atOnce: 0,
    maxConcurrency: 0
  }
  const store = Layer.succeed(AnalyticsStore, {
    claim: (now, notSince) =>
      Effect.sync(() => {
        if (state.claimedAt !== null && state.claimedAt > notSince.epochMilliseconds) return false
        state.claimedAt = now.epochMilliseconds
        state.claims += 1
        return true
      }),
    measure: (measuring) =>
      Effect.suspend(() => {
        state.measured.push(measuring)
        return state.isFailing ? Effect.die(new Error("the database is away")) : Effect.succeed(0)
      }),
    outdated: (before, limit) =>
      Effect.sync(() =>
        [...state.windowsAt]
          .filter(([, at]) => at < before.epochMilliseconds)
          .sort(([, a], [, b]) => a - b)
          .slice(0, limit)
          .map(([id]) => id as StrategyId)
      ),
    saveWindows: (at, measured) =>
      Effect.sync(() => {
        state.batches.push(measured.length)
        for (const { strategyId, windows } of measured) {
          state.windowsAt.set(strategyId, at.epochMilliseconds)
          state.saved.set(strategyId, windows)
        }
      }),
    finish: (at) => Effect.sync(() => void state.finished.push(at.epochMilliseconds))
  })
  const performances = Layer.mock(StrategyPerformances, {
    windows: (strategyId) =>
      Effect.suspend(() => {
        state.atOnce += 1
        state.maxConcurrency = Math.max(state.maxConcurrency, state.atOnce)
        return Effect.as(Effect.yieldNow, [window])
      }).pipe(
        Effect.tap(() => (strategyId === state.failsFor ? Effect.die(new Error("no curve")) : Effect.void)),
        Effect.ensuring(Effect.sync(() => void (state.atOnce -= 1)))
      )
  })
  const layer = StrategyAnalytics.layer.pipe(Layer.provideMerge(Layer.mergeAll(store, performances, TestSettings)))
  return { state, layer }
}

const tick = Effect.flatMap(StrategyAnalytics, (analytics) => analytics.tick)

describe("StrategyAnalytics", () => {
  it.effect("passes once an interval, however many processes there are", () => {
    const { state, layer } = world(1)
    const fibers = Layer.mergeAll(Layer.fresh(StrategyAnalytics.fiber), Layer.fresh(StrategyAnalytics.fiber))
    return Effect.gen(function* () {
      yield* Layer.build(fibers)
      yield* TestClock.adjust(0)
      assert.strictEqual(state.claims, 1)
      for (let interval = 1; interval <= 3; interval += 1) {
        yield* TestClock.adjust(intervalMs)
        assert.strictEqual(state.claims, 1 + interval)
      }
      assert.deepStrictEqual(state.finished, [0, intervalMs, 2 * intervalMs, 3 * intervalMs])
    }).pipe(Effect.provide(layer))
  })

  it.effect("measures by what its rules say", () => {
    const { state, layer } = world(0)
    return Effect.gen(function* () {
      yield* TestClock.setTime(DateTime.makeUnsafe("2026-03-10T05:00:00Z").epochMilliseconds)
      assert.isTrue(yield* tick)
      const [{ flowsSince, freshSince, valuedIfBefore }] = state.measured as [Measuring]
      assert.strictEqual(DateTime.formatIso(freshSince), "2026-03-08T05:00:00.000Z")
      assert.strictEqual(DateTime.formatIso(valuedIfBefore), "2026-03-09T23:00:00.000Z")
      assert.strictEqual(DateTime.formatIsoDateUtc(flowsSince), "2026-03-04")
    }).pipe(Effect.provide(layer))
  })

  it.effect("goes on after a pass that failed, which does not count as one", () => {
    const { state, layer } = world(1)
    state.isFailing = true
    return Effect.gen(function* () {
      yield* Layer.build(StrategyAnalytics.fiber)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(state.finished, [])
      state.isFailing = false
      yield* TestClock.adjust(intervalMs)
      assert.deepStrictEqual(state.finished, [intervalMs])
    }).pipe(Effect.provide(layer))
  })

  it.effect("passes over a strategy whose performance cannot be computed", () => {
    const { state, layer } = world(3)
    state.failsFor = "strategy 00001"
    return Effect.gen(function* () {
      yield* tick
      assert.deepStrictEqual(
        [...state.saved.values()].map((windows) => windows?.length ?? null),
        [1, null, 1]
      )
      assert.isTrue([...state.windowsAt.values()].every((at) => at === 0))
    }).pipe(Effect.provide(layer))
  })

  it.effect("computes performance in bounded batches, and of bounded many a pass, the longest ago first", () => {
    const { state, layer } = world(1_500)
    return Effect.gen(function* () {
      yield* tick
      assert.strictEqual(state.saved.size, 1_000)
      assert.isAtMost(Math.max(...state.batches), 100)
      assert.isAtMost(state.maxConcurrency, 4)
      yield* TestClock.adjust(intervalMs)
      yield* tick
      assert.strictEqual(state.saved.size, 1_500)
    }).pipe(Effect.provide(layer))
  })
})
