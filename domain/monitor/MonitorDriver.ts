/**
 * The fiber that drives monitors: it reads the prices that are watched, ticks what is due, and brings monitors up to
 * the triggers of strategies that changed. Any number of processes run one.
 *
 * A price is compared with the ranges before anything is measured, so that only monitors in reach cost a tick.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import { Prices } from "#domain/market/Prices.ts"
import { keepGoing } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { MonitorStore } from "#domain/monitor/MonitorStore.ts"
import { MonitorTicks } from "#domain/monitor/MonitorTicks.ts"
import { SchedulerSettings } from "#domain/rebalance/RebalanceSettings.ts"

/** Longer than a tick. After it other processes claim the monitors of one that died. */
const claimFor = Duration.seconds(15)
const batch = 200
/** Batches of one sweep, so that nothing else a sweep does is put off for long. */
const maxBatches = 20
/** A tick's key is stored for so long. */
const tickRetention = Duration.days(7)
/** Pause between sweeps while there is work, in milliseconds; at most the interval between ticks. */
const busyIntervalMs = 50
const idleIntervalMs = 500

/**
 * Keeps waiting workflows going.
 *
 * **When to use**
 *
 * Use `fiber` in the composition of the service, and the single steps in tests.
 */
export class MonitorDriver extends Context.Service<
  MonitorDriver,
  {
    /** Makes the monitors due whose watches these prices reach; returns how many. */
    readonly onPrices: (prices: ReadonlyMap<AssetId, bigint>) => Effect.Effect<number>
    /** Ticks what is due until nothing more is, or a number of batches is done; answers how many it ticked. */
    readonly tickDue: Effect.Effect<number>
    /** All that the fiber does in one round; answers how much there was to do. */
    readonly sweep: Effect.Effect<number>
  }
>()("ballast/domain/monitor/MonitorDriver") {
  static readonly layer = Layer.effect(
    MonitorDriver,
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const ticks = yield* MonitorTicks
      const prices = yield* Prices

      const onPrices = (latest: ReadonlyMap<AssetId, bigint>) =>
        latest.size === 0 ? Effect.succeed(0) : Effect.flatMap(DateTime.now, (now) => store.touch(latest, now))

      const askForPrices = Effect.gen(function* () {
        const watched = yield* store.watched
        if (watched.length === 0) return 0
        const latest = yield* Effect.option(prices.latest(watched))
        if (Option.isNone(latest)) return 0
        return yield* onPrices(
          new Map([...latest.value].flatMap(([assetId, { usd }]) => (usd > 0n ? [[assetId, usd] as const] : [])))
        )
      })

      const tickDue = Effect.gen(function* () {
        let count = 0
        for (let round = 0; round < maxBatches; round += 1) {
          const now = yield* DateTime.now
          const claimed = yield* store.claim(now, DateTime.addDuration(now, claimFor), batch)
          yield* ticks.run(claimed)
          count += claimed.length
          if (claimed.length < batch) break
        }
        return count
      })

      const followStrategies = Effect.gen(function* () {
        for (let round = 0; round < maxBatches; round += 1) {
          if (!(yield* store.follow(yield* DateTime.now))) return
        }
      })

      const measure = Effect.gen(function* () {
        const now = yield* DateTime.now
        const { failed, oldestDueAt } = yield* store.state(now)
        const age = oldestDueAt === null ? 0 : (now.epochMilliseconds - oldestDueAt.epochMilliseconds) / 1000
        yield* Metric.update(Metrics.oldestMonitorDueAge, Math.max(0, age))
        yield* Metric.update(Metrics.failedMonitors, failed)
      })

      const sweep = Effect.gen(function* () {
        yield* measure
        yield* followStrategies
        const called = yield* askForPrices
        const ticked = yield* tickDue
        yield* store.deleteTicks(DateTime.subtractDuration(yield* DateTime.now, tickRetention))
        return called + ticked
      }).pipe(Effect.withSpan("MonitorDriver.sweep"))

      return MonitorDriver.of({ onPrices, tickDue, sweep })
    })
  )

  /** The fiber that sweeps for as long as the layer lives; a failed sweep is logged and the next one tries again. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const driver = yield* MonitorDriver
      const { intervalMs } = yield* SchedulerSettings
      const round = Effect.map(driver.sweep, (count) =>
        Duration.millis(Math.min(count > 0 ? busyIntervalMs : idleIntervalMs, intervalMs))
      )
      yield* keepGoing(round, {
        complaint: "A sweep of waiting workflows failed",
        afterFault: Duration.millis(intervalMs)
      })
    })
  )
}
