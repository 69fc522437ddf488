/**
 * Live means that the process has reached its database and had its own loop within the configured time. When it has
 * not, what it waits for should have ended by itself long ago, and another start may help.
 *
 * The database is queried every few seconds, over the pool that all work goes over, and only an answer counts. The loop
 * is what runs timers: a process that is held for long answers a probe late or not at all, and if it answers between
 * two such times, it reports them. Both are measured by the machine's time, whatever clock the service follows.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Liveness } from "#domain/health/Liveness.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"

const betweenQuestions = Duration.seconds(5)
const heartbeatInterval = Duration.seconds(1)

/** Time for which a process may miss its database, or its own loop, before it is to be started again. */
export class LivenessSettings extends Context.Service<LivenessSettings, { readonly within: Duration.Duration }>()(
  "ballast/layers/engine/LivenessSettings"
) {}

export const LivenessLive = Layer.effect(
  Liveness,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { within } = yield* LivenessSettings
    const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
    let reachedAt = yield* now
    let heartbeatAt = reachedAt

    const question = sql`SELECT 1`.pipe(
      Effect.andThen(now),
      Effect.map((at) => void (reachedAt = at)),
      Effect.catchCause(() => Effect.void),
      Effect.withTracerEnabled(false)
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(question, sleepRealTime(betweenQuestions))))
    const heartbeat = Effect.map(now, (at) => void (heartbeatAt = at))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(heartbeat, sleepRealTime(heartbeatInterval))))

    const since = (at: number, what: string, isAt: number) => {
      const seconds = Math.round(Math.max(0, isAt - at) / 1000)
      return { ok: isAt - at <= Duration.toMillis(within), detail: `${what} ${seconds} s ago` }
    }
    return Liveness.of({
      check: Effect.map(now, (at) => {
        const database = since(reachedAt, "answered", at)
        const loop = since(heartbeatAt, "had its turn", at)
        return { live: database.ok && loop.ok, checks: { database, loop } }
      })
    })
  })
)
