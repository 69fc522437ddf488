/**
 * Measures the strategies of discovery in passes, so that the route only reads. What is counted, and when a number is
 * unknown, is in docs/decisions/0015.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric } from "effect"
import { AnalyticsStore } from "#domain/discovery/AnalyticsStore.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { DiscoverySettings } from "#domain/discovery/DiscoverySettings.ts"

/** A portfolio that was not valued for this long makes its strategy's value unknown. */
const valuationMaxAge = Duration.days(2)
/** A new portfolio may wait this long for its first valuation; until then it counts with nothing, as it began. */
const firstValuationWithin = Duration.hours(6)
/** Today and the six UTC dates before it. */
const flowDays = 7
/**
 * Performance is computed of at most this many strategies a pass, in batches; the others have their turn in the next.
 */
const performancesPerPass = 1_000
const performanceBatch = 100
const performanceConcurrency = 4

/**
 * Measures the strategies of discovery.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and `tick` in tests.
 */
export class StrategyAnalytics extends Context.Service<
  StrategyAnalytics,
  {
    /** One pass, unless another process made one within the interval; answers whether it did. */
    readonly tick: Effect.Effect<boolean>
  }
>()("ballast/domain/discovery/StrategyAnalytics") {
  static readonly layer = Layer.effect(
    StrategyAnalytics,
    Effect.gen(function* () {
      const store = yield* AnalyticsStore
      const performances = yield* StrategyPerformances
      const { intervalMs } = yield* DiscoverySettings

      /** A strategy whose performance cannot be computed is logged and left out: it must not stop the others. */
      const windowsOf = (strategyId: StrategyId) =>
        performances.windows(strategyId).pipe(
          Effect.catchCause((cause) =>
            Effect.as(Effect.logError(`The performance of strategy ${strategyId} could not be computed`, cause), null)
          ),
          Effect.map((windows) => ({ strategyId, windows }))
        )

      const measurePerformances = Effect.fnUntraced(function* (startedAt: DateTime.Utc) {
        for (let measured = 0; measured < performancesPerPass; measured += performanceBatch) {
          const batch = yield* store.outdated(startedAt, performanceBatch)
          if (batch.length === 0) return
          const windows = yield* Effect.forEach(batch, windowsOf, { concurrency: performanceConcurrency })
          yield* store.saveWindows(startedAt, windows)
        }
      })

      const pass = Effect.fnUntraced(function* (startedAt: DateTime.Utc) {
        const unknown = yield* store.measure({
          freshSince: DateTime.subtractDuration(startedAt, valuationMaxAge),
          valuedIfBefore: DateTime.subtractDuration(startedAt, firstValuationWithin),
          flowsSince: DateTime.subtract(startedAt, { days: flowDays - 1 })
        })
        yield* store.finish(startedAt)
        yield* Metric.update(Metrics.discoveryUnknown, unknown)
        yield* Metric.update(Metrics.discoveryLastPass, startedAt.epochMilliseconds / 1000)
        yield* measurePerformances(startedAt)
      })

      const tick = Effect.gen(function* () {
        const now = yield* DateTime.now
        const isOurs = yield* store.claim(now, DateTime.subtract(now, { milliseconds: intervalMs }))
        if (isOurs) yield* pass(now)
        return isOurs
      }).pipe(Effect.withSpan("StrategyAnalytics.tick"))

      return StrategyAnalytics.of({ tick })
    })
  )

  /** The fiber that ticks for as long as the layer lives; a failed tick is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const analytics = yield* StrategyAnalytics
      const { intervalMs } = yield* DiscoverySettings
      yield* keepGoingEvery(analytics.tick, {
        complaint: "A pass of the discovery analytics failed",
        interval: Duration.millis(intervalMs)
      })
    })
  )
}
