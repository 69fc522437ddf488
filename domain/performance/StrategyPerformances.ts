/**
 * How a strategy's allocation would have performed: up to twelve months, as far back as all its assets have prices.
 * Computing a curve costs milliseconds, so it is kept for a minute. Source: interface "Strategy read routes", shapes
 * 2.11.
 */
import { Cache, Context, DateTime, Duration, Effect, Equal, Exit, Hash, Layer, Option } from "effect"
import { Assets } from "#domain/asset/Assets.ts"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import { type NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { DailyPriceStore } from "#domain/market/DailyPriceStore.ts"
import { PriceRecorder } from "#domain/market/PriceRecorder.ts"
import type { CurvePoint } from "#domain/performance/CurvePoint.ts"
import { CurveStore } from "#domain/performance/CurveStore.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import { type CurveVersion, strategyCurve } from "#domain/performance/strategyCurve.ts"
import { earliestDay, firstDay, windowsOf } from "#domain/performance/windowsOf.ts"
import { intervalMs, type RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"

const timeToLive = Duration.minutes(1)
/** A curve without points soon has some, when the histories of its assets arrive. */
const emptyTimeToLive = Duration.seconds(2)
const kept = 2_000
const dayMs = Duration.toMillis(Duration.days(1))

export interface StrategyPerformance {
  readonly strategyId: StrategyId
  /** The cadence that the curve is rebalanced at; an hourly one at the daily prices that there are. */
  readonly schedule: RebalanceSchedule
  readonly asOf: DateTime.Utc
  readonly points: ReadonlyArray<CurvePoint>
  /** Null with fewer than two points. */
  readonly windows: ReadonlyArray<PerformanceWindow> | null
}

/** A strategy as a cache key: equal while head version and schedule are the same. */
class Head implements Equal.Equal {
  readonly strategy: Strategy
  constructor(strategy: Strategy) {
    this.strategy = strategy
  }
  [Equal.symbol](that: Equal.Equal): boolean {
    return (
      that instanceof Head &&
      that.strategy.strategyId === this.strategy.strategyId &&
      that.strategy.version === this.strategy.version &&
      that.strategy.schedule.frequency === this.strategy.schedule.frequency
    )
  }
  [Hash.symbol](): number {
    return Hash.string(this.strategy.strategyId)
  }
}

const assetsOf = (versions: ReadonlyArray<CurveVersion>): ReadonlyArray<AssetId> => [
  ...new Set(versions.flatMap(({ allocation }) => allocation.map(({ assetId }) => assetId)))
]

/**
 * How a strategy's target would have performed.
 *
 * **When to use**
 *
 * Use in the route of a strategy's performance and to rank strategies. What a policy would have done is `Backtests`.
 */
export class StrategyPerformances extends Context.Service<
  StrategyPerformances,
  {
    /** One's own strategy or a public one. Refuses a strategy whose stored allocation names an unknown asset. */
    readonly read: (strategyId: StrategyId) => Effect.Effect<StrategyPerformance, NotFound | ValidationFailed, Caller>
    /** Windows of any strategy, shortest first; empty when there is nothing to say. */
    readonly windows: (strategyId: StrategyId) => Effect.Effect<ReadonlyArray<PerformanceWindow>>
  }
>()("ballast/domain/performance/StrategyPerformances") {
  static readonly layer = Layer.effect(
    StrategyPerformances,
    Effect.gen(function* () {
      const strategies = yield* Strategies
      const strategyStore = yield* StrategyStore
      const curves = yield* CurveStore
      const prices = yield* DailyPriceStore
      const recorder = yield* PriceRecorder
      const assets = yield* Assets

      const requireKnown = Effect.fnUntraced(function* ({ allocation, strategyId }: Strategy) {
        const known = yield* assets.find(allocation.map(({ assetId }) => assetId))
        const unknown = allocation.flatMap(({ assetId }, index) => (known.has(assetId) ? [] : [{ assetId, index }]))
        if (unknown.length === 0) return
        return yield* new ValidationFailed({
          message: `The allocation of strategy ${strategyId} names an asset that is not known any more: ${unknown[0]!.assetId}. Publish a version without it`,
          details: unknown.map(({ assetId, index }) => `allocation.assets.${index}.assetId: unknown asset ${assetId}`)
        })
      })

      const compute = Effect.fn("StrategyPerformances.compute")(function* (strategy: Strategy) {
        const asOf = yield* DateTime.now
        const today = Day.of(asOf)
        const earliest = earliestDay(today)
        const versions = yield* curves.versions(strategy.strategyId, earliest)
        const series = yield* prices.read(assetsOf(versions), earliest)
        const curveFrom = (from: Day.Day) =>
          strategyCurve({
            from,
            to: today,
            anchor: Day.of(strategy.createdAt),
            everyDays: Math.max(1, intervalMs[strategy.schedule.frequency] / dayMs),
            versions,
            prices: series
          })
        const from = firstDay(today, undefined)
        const upToNow = curveFrom(from)
        const longest = firstDay(today, upToNow.at(-1)?.day)
        const points = longest === from ? upToNow : curveFrom(longest)
        return { asOf, points, windows: windowsOf(points, today) }
      })

      const memory = yield* Cache.makeWith(({ strategy }: Head) => compute(strategy), {
        capacity: kept,
        timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value.points.length > 0 ? timeToLive : emptyTimeToLive)
      })

      const read = Effect.fn("StrategyPerformances.read")(function* (strategyId: StrategyId) {
        const strategy = yield* strategies.get(strategyId)
        yield* requireKnown(strategy)
        const head = new Head(strategy)
        let curve = yield* Cache.get(memory, head)
        if (curve.points.length === 0) {
          yield* recorder.begin(strategy.allocation.map(({ assetId }) => assetId))
          yield* Cache.invalidate(memory, head)
          curve = yield* Cache.get(memory, head)
        }
        const { asOf, points, windows: all } = curve
        return { strategyId, schedule: strategy.schedule, asOf, points, windows: points.length < 2 ? null : all }
      })

      const windows = Effect.fn("StrategyPerformances.windows")(function* (strategyId: StrategyId) {
        const strategy = yield* strategyStore.find(strategyId)
        if (Option.isNone(strategy)) return []
        return (yield* Cache.get(memory, new Head(strategy.value))).windows
      })

      return StrategyPerformances.of({ read, windows })
    })
  )
}
