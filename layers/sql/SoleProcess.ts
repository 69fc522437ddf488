/**
 * One API process for a database: its workflow engine assumes that every run is its own.
 *
 * On a PostgreSQL server the process holds an advisory lock on a connection of its own for as long as it lives; one that
 * starts while another lives waits for it, so that a rolling restart passes the work on. The embedded database is kept
 * to one process by the lock of its folder.
 */
import { Duration, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"

/** Any constant that no other program takes on this database. */
const lockKey = "4937240179320001"

const patience = Duration.minutes(2)
const retryEvery = Duration.millis(500)

/** Another API process holds the database and does not end. */
export class DatabaseTaken extends Schema.TaggedError<DatabaseTaken>()("DatabaseTaken", {}) {
  override get message() {
    return `Another API process works on this database and did not end within ${Duration.format(patience)}. Run one API process for a database; stop the other one first`
  }
}

const hold = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  // The connection goes back to the pool, not away, so the lock is given up by name; a killed process loses both.
  yield* Effect.addFinalizer(() => Effect.ignore(connection.executeValues(`SELECT pg_advisory_unlock(${lockKey})`, [])))
  const attempt = Effect.gen(function* () {
    const [row] = yield* connection.executeValues(`SELECT pg_try_advisory_lock(${lockKey})`, [])
    return row?.[0] === true
  })
  if (yield* attempt) return
  yield* Effect.logWarning("Another API process works on this database; waiting for it to end")
  yield* attempt.pipe(
    Effect.repeat({ schedule: Schedule.spaced(retryEvery), until: (isHeld) => isHeld }),
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(new DatabaseTaken()) })
  )
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { isEmbedded } = yield* DatabaseInfo
    if (!isEmbedded) yield* hold
  })
)
