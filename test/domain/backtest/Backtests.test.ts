/** What backtests cost a process: equal questions are computed once in ten minutes, and what is refused is not kept. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Assets } from "#domain/asset/Assets.ts"
import { type BacktestDraft, Backtests } from "#domain/backtest/Backtests.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import { baseUsdc, baseWeth, catalogue } from "#test/support/assets.ts"
import { TestSettings } from "#test/support/settings.ts"

const today = 400 as Day.Day
const from = Day.add(today, -60)

const draft = (more: Partial<BacktestDraft> = {}): BacktestDraft => ({
  allocation: [
    { assetId: baseUsdc.assetId, weight: 5_000 },
    { assetId: baseWeth.assetId, weight: 5_000 }
  ],
  schedule: { type: "interval", frequency: "daily" },
  rebalancePolicy: { band: { kind: "auto" } },
  from,
  to: today,
  valueUsd: 10_000n * Decimal.one,
  feeBps: 30,
  gasUsd: Decimal.one / 10n,
  ...more
})

/** Backtests over prices that swing, with a count of how often they were read; ether has prices from `since` on. */
const world = (since: () => Day.Day = () => 0 as Day.Day) => {
  const counts = { reads: 0 }
  const pricesOf = (first: Day.Day, priceAt: (day: number) => number) => {
    const days = Array.from({ length: today - first + 1 }, (_, at) => Day.add(first, at))
    return new Map(days.map((day) => [day, (BigInt(Math.round(priceAt(day) * 1e6)) * Decimal.one) / 1_000_000n]))
  }
  const read = Effect.sync(() => {
    counts.reads += 1
    return new Map([
      [baseUsdc.assetId, pricesOf(0 as Day.Day, () => 1)],
      [baseWeth.assetId, pricesOf(since(), (day) => 2_000 + 400 * Math.sin(day / 3))]
    ])
  })
  const layer = Backtests.layer.pipe(
    Layer.provide([
      Layer.mock(DailyPriceStore, { read: () => read }),
      Layer.mock(PriceRecorder, { begin: () => Effect.void }),
      Layer.mock(Assets, { find: () => Effect.succeed(catalogue) }),
      Layer.succeed(Chains, { supported: [baseUsdc.chainId] }),
      TestSettings
    ])
  )
  return { counts, layer }
}

const start = TestClock.setTime(today * 86_400_000)

describe("Backtests", () => {
  it.effect("computes equal questions once, and again after ten minutes", () => {
    const { counts, layer } = world()
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      const first = yield* run(draft())
      assert.strictEqual(counts.reads, 1)
      assert.strictEqual(yield* run(draft()), first)
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* run(draft()), first)
      assert.strictEqual(counts.reads, 1)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* run(draft()), first)
      assert.strictEqual(counts.reads, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("many at once that ask the same are answered by one computation", () => {
    const { counts, layer } = world()
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      const fibers = yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.forkChild(run(draft())))
      const [first, ...others] = yield* Effect.forEach(fibers, Fiber.join)
      for (const other of others) assert.strictEqual(other, first)
      assert.strictEqual(counts.reads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps no answer for another question: each field that decides a result is part of it", () => {
    const { counts, layer } = world()
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      const drafts: ReadonlyArray<BacktestDraft> = [
        draft(),
        draft({ from: Day.add(from, 1) }),
        draft({ to: Day.add(today, -1) }),
        draft({ valueUsd: 20_000n * Decimal.one }),
        draft({ feeBps: 31 }),
        draft({ gasUsd: Decimal.one }),
        draft({ thresholdUsd: 20n * Decimal.one }),
        draft({ slippageBps: 80 }),
        draft({ schedule: { type: "interval", frequency: "weekly" } }),
        draft({ rebalancePolicy: { band: { kind: "auto", riskAversion: 100 } } }),
        draft({ rebalancePolicy: { band: { kind: "relative", width: 500 } } }),
        draft({
          allocation: [
            { assetId: baseUsdc.assetId, weight: 4_000 },
            { assetId: baseWeth.assetId, weight: 6_000 }
          ]
        })
      ]
      const results = yield* Effect.forEach(drafts, run)
      assert.strictEqual(counts.reads, drafts.length)
      assert.strictEqual(new Set(results).size, drafts.length)
      assert.deepStrictEqual(yield* Effect.forEach(drafts, run), results)
      assert.strictEqual(counts.reads, drafts.length)
    }).pipe(Effect.provide(layer))
  })

  it.effect("caches no refusal: what was missing is searched for again", () => {
    let since = Day.add(today, -10)
    const { counts, layer } = world(() => since)
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      const refused = yield* Effect.flip(run(draft()))
      assert.deepStrictEqual(refused.details, [
        `allocation.assets.1.assetId: prices of ${baseWeth.assetId} exist from ${Day.format(since)} on`
      ])
      since = Day.add(from, -5)
      const before = counts.reads
      assert.strictEqual((yield* run(draft())).strategy.points.length, 61)
      assert.isAbove(counts.reads, before)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps two hundred results: the oldest leave first", () => {
    const { counts, layer } = world()
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      const short = (fee: number) => draft({ from: Day.add(today, -1), feeBps: fee })
      for (let fee = 0; fee <= 200; fee += 1) yield* run(short(fee))
      assert.strictEqual(counts.reads, 201)
      yield* run(short(200))
      assert.strictEqual(counts.reads, 201)
      yield* run(short(0))
      assert.strictEqual(counts.reads, 202)
    }).pipe(Effect.provide(layer))
  })

  it.effect("gives way to other work while it computes, the more often the more days there are", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      yield* start
      const { run } = yield* Backtests
      let turns = 0
      yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => (turns += 1)),
            Effect.yieldNow
          )
        )
      )
      const turnsFor = Effect.fnUntraced(function* (days: number) {
        const before = turns
        yield* run(draft({ from: Day.add(today, -days) }))
        return turns - before
      })
      const short = yield* turnsFor(2)
      assert.isAbove(yield* turnsFor(366), short + 10)
    }).pipe(Effect.provide(layer))
  })
})
