/**
 * What is seen of work that does not move: how old the oldest unfinished operation is, and whether relayers can pay.
 *
 * A fiber checks at an interval, sets the metrics and raises the alarms; readiness reports its last result.
 */
import { Context, DateTime, Duration, Effect, Layer, Metric, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { type Funds, RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { StepStore } from "#domain/operation/StepStore.ts"

const checkInterval = Duration.seconds(15)
/** An unfinished operation that is older, with nothing outside to wait for, is an alarm. */
const stepWithin = Duration.minutes(15)

/**
 * Seconds since the oldest unfinished operation of each kind was accepted, or went on after it had waited for its
 * owner; 0 when there is none.
 */
export interface StepAges {
  readonly moving: number
  readonly retrying: number
}

/**
 * What is seen of work that does not move.
 *
 * **When to use**
 *
 * Use `fiber` to have it inspected, and the rest to report what was seen last, as `Readiness` does.
 */
export class StallMonitor extends Context.Service<
  StallMonitor,
  {
    /** Reads the ages now and sets their metric. */
    readonly ages: Effect.Effect<StepAges>
    /** Reads the ages, and raises an alarm for an operation that does not end. */
    readonly inspectSteps: Effect.Effect<void>
    /** Reads the funds now, sets their metric, and raises an alarm for those that are low. */
    readonly inspectFunds: Effect.Effect<void>
    /** The relayers that were low when they were last read; a chain that does not answer keeps what was read before. */
    readonly low: Effect.Effect<ReadonlyArray<Funds>>
  }
>()("ballast/domain/relay/StallMonitor") {
  static readonly layer = Layer.effect(
    StallMonitor,
    Effect.gen(function* () {
      const steps = yield* StepStore
      const funds = yield* RelayerFunds
      const seen = new Map<ChainId, ReadonlyArray<Funds>>()

      const ages = Effect.gen(function* () {
        const now = yield* DateTime.now
        const { moving, retrying } = yield* steps.oldest
        const age = Option.match({
          onNone: () => 0,
          onSome: (since: DateTime.Utc) => Math.max(0, (now.epochMilliseconds - since.epochMilliseconds) / 1000)
        })
        const found: StepAges = { moving: age(moving), retrying: age(retrying) }
        for (const [state, seconds] of Object.entries(found))
          yield* Metric.update(Metric.withAttributes(Metrics.oldestStepAge, { state }), seconds)
        return found
      })

      const inspectSteps = Effect.gen(function* () {
        const { moving } = yield* ages
        if (moving > Duration.toSeconds(stepWithin))
          yield* Effect.logError(
            `An operation has not ended ${Math.round(moving)} s after it was accepted: see "npm run cli -- runs list" and the database`
          )
      })

      const inspect = Effect.fnUntraced(function* (chainId: ChainId) {
        const read = yield* funds.read(chainId)
        seen.set(chainId, read)
        for (const { balance, isLow, relayer } of read) {
          const ether = Number(balance) / 1e18
          yield* Metric.update(
            Metric.withAttributes(Metrics.relayerBalance, { chain: String(chainId), relayer }),
            ether
          )
          if (isLow)
            yield* Effect.logError(
              `Relayer ${relayer} has ${ether} of the native token of chain ${chainId} left: send it more, or nothing will land there`
            )
        }
      })

      return StallMonitor.of({
        ages,
        inspectSteps,
        inspectFunds: Effect.forEach(
          funds.chains,
          (chainId) => Effect.catch(inspect(chainId), ({ message }) => Effect.logWarning(message)),
          { concurrency: "unbounded", discard: true }
        ),
        low: Effect.sync(() => [...seen.values()].flat().filter(({ isLow }) => isLow))
      })
    })
  )

  /** Checks every fifteen seconds, for as long as the layer lives. */
  static readonly fiber = Layer.effectDiscard(
    Effect.gen(function* () {
      const work = yield* StallMonitor
      const complaint = "Stalled work could not be searched for"
      const inspection = Effect.andThen(work.inspectSteps, work.inspectFunds)
      yield* keepGoingEvery(inspection, { interval: checkInterval, complaint, level: "Warn" })
    })
  )
}
