/**
 * How many connections of this process's pool are open and at work, every ten seconds, as the server counts them: the
 * pool of the library exposes no numbers. A pool without a free connection for the query counts as wholly at work.
 * Names and units are those of the semantic conventions for databases; waiting is measured by
 * `db.client.connection.wait_time`.
 */
import { Duration, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

/** Attribute `db.client.connection.state`: `used` or `idle`. */
export const connectionCount = Metric.gauge("db.client.connection.count", {
  description: "The number of connections that are currently in state described by the state attribute",
  attributes: { unit: "{connection}" }
})

export const connectionMax = Metric.gauge("db.client.connection.max", {
  description: "The maximum number of open connections allowed",
  attributes: { unit: "{connection}" }
})

const interval = Duration.seconds(10)
const answerLimit = Duration.seconds(5)

const inState = (state: "used" | "idle") =>
  Metric.withAttributes(connectionCount, { "db.client.connection.state": state })

export interface PoolOptions {
  /** What the connections of this pool call themselves, and of no other. */
  readonly applicationName: string
  readonly maxConnections: number
}

/** One sample, which uses a connection of the pool and counts it as idle. */
export const samplePool = Effect.fnUntraced(function* ({ applicationName, maxConnections }: PoolOptions) {
  const sql = yield* SqlClient.SqlClient
  const counted = yield* sql<{ used: number; open: number }>`
    SELECT count(*) FILTER (WHERE state <> 'idle' AND pid <> pg_backend_pid())::int AS used, count(*)::int AS open
    FROM pg_stat_activity WHERE application_name = ${applicationName}`.pipe(Effect.timeoutOption(answerLimit))
  const { open, used } = counted._tag === "None" ? { open: maxConnections, used: maxConnections } : counted.value[0]!
  yield* Metric.update(inState("used"), used)
  yield* Metric.update(inState("idle"), open - used)
  yield* Metric.update(connectionMax, maxConnections)
})

export const poolMetrics = (options: PoolOptions) =>
  Layer.effectDiscard(
    // When the database is away, what else asks it says so.
    keepGoingEvery(samplePool(options), {
      complaint: "The connections of the pool could not be counted",
      level: "Debug",
      interval
    })
  )
