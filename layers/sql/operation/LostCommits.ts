/**
 * Whether PostgreSQL may lack commits: a server that has run since before the time, and has replayed nothing of another
 * one's since then, has all of them. A copy keeps the time of the last commit that it replayed before it took over,
 * until it is started again. An embedded database starts with its process.
 */
import { DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import { decodeFirst, Timestamp } from "#layers/sql/rows.ts"

/**
 * Clocks of the servers and of this service differ by less. A start needs no such allowance: a server takes over some
 * seconds after the last commit of the other one (`minAgeOfLoss`).
 */
const clockSkew = Duration.minutes(1)

const firstServer = decodeFirst(Schema.Struct({ startedAt: Timestamp, replayedTo: Schema.NullOr(Timestamp) }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const after = Effect.fn("LostCommits.after")(function* (time: DateTime.Utc) {
    const server = yield* firstServer(sql`
      SELECT pg_postmaster_start_time() AS "startedAt", pg_last_xact_replay_timestamp() AS "replayedTo"`)
    const { replayedTo, startedAt } = yield* Effect.orDie(Effect.fromOption(server))
    const mayLack =
      DateTime.isGreaterThan(startedAt, time) ||
      (replayedTo !== null && DateTime.isGreaterThan(replayedTo, DateTime.subtractDuration(time, clockSkew)))
    if (!mayLack) return Option.none()
    return Option.some(replayedTo === null ? startedAt : DateTime.max(startedAt, replayedTo))
  })

  return LostCommits.of({ after })
})

export const layer = Layer.effect(LostCommits, make)
