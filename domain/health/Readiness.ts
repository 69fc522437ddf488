/**
 * Whether this process can do its work, so that a load balancer may send it requests: the database takes its writes,
 * its scheduler ticks, and the clock of its machine is right.
 *
 * What concerns all processes alike is reported and makes none of them unready: portfolios that are long overdue, steps
 * that stand still or wait for a chain, relayers that run out of gas, nodes that are behind their chain, a price source
 * that limits its answers. If all were unready, none could report it.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { DatabaseProbe } from "#domain/health/DatabaseProbe.ts"
import { MachineClock } from "#domain/health/MachineClock.ts"
import { PriceLimits } from "#domain/market/PriceLimits.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { StallMonitor } from "#domain/relay/StallMonitor.ts"

/** One thing that the service cannot work without. */
export interface ReadinessCheck {
  readonly ok: boolean
  /** Sentence for people, and public: holds no address, credential or other tenant data. */
  readonly detail: string
}

const answerTimeout = Duration.seconds(2)
const tickWithin = Duration.seconds(60)
/** Most that the clock of this machine may differ from the time that processes share. */
const clockWithin = Duration.seconds(2)

const ok = (detail: string): ReadinessCheck => ({ ok: true, detail })
const bad = (detail: string): ReadinessCheck => ({ ok: false, detail })

/**
 * Whether this process can do its work now.
 *
 * **When to use**
 *
 * Use to answer `GET /health/ready` and in the doctor of the command line. Whether only another start helps is
 * `Liveness`.
 */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Checks every dependency within a bounded time; `ready` when all of them answered. */
    readonly check: Effect.Effect<{
      readonly ready: boolean
      readonly checks: Readonly<Record<string, ReadinessCheck>>
    }>
  }
>()("ballast/domain/health/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const probe = yield* DatabaseProbe
      const scheduler = yield* Scheduler
      const stuck = yield* StallMonitor
      const machine = yield* MachineClock
      const priceLimits = yield* PriceLimits
      const nodes = yield* ChainNodes

      const work = Effect.gen(function* () {
        yield* probe.write
        const now = yield* DateTime.now
        const oldest = yield* operations.oldestDue(now)
        const ageMs = Option.match(oldest, {
          onNone: () => 0,
          onSome: (dueAt) => now.epochMilliseconds - dueAt.epochMilliseconds
        })
        const detail = `oldest due portfolio waits ${Math.max(0, Math.round(ageMs / 1000))} s`
        return { database: ok("answers, and takes writes"), due: ok(detail) }
      }).pipe(
        Effect.timeout(answerTimeout),
        Effect.catchCause(() =>
          Effect.succeed({
            database: bad(`did not take a write and answer within ${Duration.format(answerTimeout)}`),
            due: ok("unknown")
          })
        )
      )

      const steps = Effect.gen(function* () {
        const { moving, retrying } = yield* stuck.ages
        return ok(
          `oldest unfinished operation: ${Math.round(moving)} s, oldest that waits for a chain: ${Math.round(retrying)} s`
        )
      }).pipe(
        Effect.timeout(answerTimeout),
        Effect.catchCause(() => Effect.succeed(ok("unknown")))
      )

      const funds = Effect.map(stuck.low, (low) =>
        ok(
          low.length === 0
            ? "no relayer was seen to run out of gas"
            : `relayers run out of gas on chains ${[...new Set(low.map(({ chainId }) => chainId))].join(", ")}`
        )
      )

      const prices = Effect.map(priceLimits.current, (limit) =>
        ok(
          limit === null
            ? "the price source refused no request for its size"
            : `prices are limited to ${limit.tokensPerRequest} tokens a request: ${limit.reason}`
        )
      )

      const following = Effect.map(nodes.behind, (behind) => {
        const named = behind.map(
          ({ blocks, chainId, endpoint }) => `endpoint ${endpoint} of chain ${chainId} by ${blocks} blocks`
        )
        return ok(named.length === 0 ? "no node was seen to be behind its chain" : `behind: ${named.join(", ")}`)
      })

      const ticking = Effect.gen(function* () {
        const age = DateTime.distance(yield* scheduler.lastTickAt, yield* DateTime.now)
        const detail = `last tick ${Math.round(Duration.toSeconds(age))} s ago`
        return Duration.isLessThanOrEqualTo(age, tickWithin) ? ok(detail) : bad(detail)
      })

      const clock = Effect.map(machine.aheadMillis, (ahead) => {
        const by = `${(Math.abs(ahead) / 1000).toFixed(1)} s`
        const detail = `this machine's clock is ${by} ${ahead < 0 ? "behind" : "ahead of"} the shared time`
        return Math.abs(ahead) <= Duration.toMillis(clockWithin) ? ok(detail) : bad(`${detail}; set it right (NTP)`)
      })

      return Readiness.of({
        check: Effect.gen(function* () {
          const checks = {
            ...(yield* work),
            clock: yield* clock,
            scheduler: yield* ticking,
            steps: yield* steps,
            relayers: yield* funds,
            prices: yield* prices,
            nodes: yield* following
          }
          return { ready: Object.values(checks).every((check) => check.ok), checks }
        })
      })
    })
  ).pipe(Layer.provide(PriceLimits.layer))
}
