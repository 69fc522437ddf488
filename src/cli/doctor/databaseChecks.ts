/** Whether the database is there, is the service's, is of this release, and has the same time. */
import { Clock, DateTime, Duration, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { pepperOfService, pepperUse } from "#layers/sql/identity/Peppers.ts"
import { schemaState } from "#layers/sql/schemaState.ts"
import { connectionsBesidePool } from "#layers/sql/sessions.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"
import { clockFinding } from "#src/cli/doctor/clockFinding.ts"
import { absenceOf, latestIn } from "#src/cli/serviceDatabase.ts"
import type { ServiceConfig } from "#src/Config.ts"

type DatabaseLocation = Pick<ServiceConfig, "database" | "pepper" | "otherPepper" | "clockUrl">

const subject = "database"
const oldestMajor = 15
const answerLimit = Duration.seconds(15)

const server = Effect.fnUntraced(function* ({ clockUrl, database }: DatabaseLocation) {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ version: number; most: number; used: number; now: Date }>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('max_connections')::int AS most,
      (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
      clock_timestamp() AS now`
  const between = (before + (yield* Clock.currentTimeMillis)) / 2
  const { most, now, used, version } = row!
  const major = Math.floor(version / 10_000)
  const needed = database.maxConnections + connectionsBesidePool
  return [
    major >= oldestMajor
      ? ok(subject, `PostgreSQL ${major} answers`)
      : problem(subject, `PostgreSQL ${major} is too old`, `Use PostgreSQL ${oldestMajor} or newer.`),
    ...(database.url === null
      ? []
      : [
          needed <= most
            ? ok(subject, `${used} of ${most} connections are in use; a process takes up to ${needed}`)
            : problem(
                subject,
                `a process takes ${needed} connections, and the server allows ${most}`,
                "Lower DATABASE_POOL, or raise max_connections of the server."
              )
        ]),
    // A remote clock is another time on purpose.
    ...(clockUrl === null ? [clockFinding(subject, "the database's clock", now.getTime() - between)] : [])
  ]
})

const pepper = Effect.gen(function* () {
  const { pepperName } = yield* KeyHash
  const { other = null } = yield* KeyHashConfig
  const noted = yield* pepperOfService
  const { current, others } = yield* pepperUse(pepperName, yield* DateTime.now)
  if (noted !== null && noted !== pepperName && other === null)
    return problem(
      "pepper",
      "API_KEY_PEPPER is not the one that the service was started with last",
      'Set that one, or exchange it as docs/operations.md describes under "Keys and secrets that change".'
    )
  if (other === null) return ok("pepper", `${current + others} live keys`)
  return others === 0
    ? warning(
        "pepper",
        `all ${current} live keys are stored under the new pepper`,
        "A day after the last process was started with it, remove API_KEY_PEPPER_OTHER (docs/operations.md)."
      )
    : warning(
        "pepper",
        `${others} of ${current + others} live keys were not used since the pepper is exchanged`,
        "Keep API_KEY_PEPPER_OTHER until they were, or rotate or revoke them: keys list says when each was used."
      )
})

/** All checks of the database, which no other process has open. */
const opened = (location: DatabaseLocation) =>
  Effect.gen(function* () {
    const state = yield* schemaState
    const reached = yield* server(location)
    const latest = latestIn(location.database, state)
    if (Result.isFailure(latest)) return [...reached, problem(subject, latest.failure.detail, latest.failure.toDo)]
    return [...reached, ok(subject, `its schema is that of this release, ${latest.success}`), yield* pepper]
  })

const unreachable = (location: DatabaseLocation, reason: string): Finding =>
  problem(
    subject,
    `${location.database.url === null ? "the embedded database cannot be opened" : "the database of DATABASE_URL does not answer"}: ${reason}`,
    "See that the server runs, that its address, user and password are right, and that it can be reached from here."
  )

/** Findings on the database; it is neither made nor migrated, and nothing is written to it. */
export const databaseChecks = (location: DatabaseLocation): Effect.Effect<ReadonlyArray<Finding>> => {
  const absence = absenceOf(location.database)
  if (absence !== null) return Effect.succeed([problem(subject, absence.detail, absence.toDo)])
  const layers = KeyHashLive.pipe(
    Layer.provideMerge(Layer.succeed(KeyHashConfig, { pepper: location.pepper, other: location.otherPepper })),
    Layer.merge(Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, location.database))))
  )
  return opened(location).pipe(
    Effect.provide(layers),
    Effect.timeoutOrElse({
      duration: answerLimit,
      orElse: () => Effect.succeed([unreachable(location, `no answer in ${Duration.format(answerLimit)}`)])
    }),
    Effect.catchTag("DirectoryInUse", () =>
      Effect.succeed([
        ok(subject, "the embedded database is open in another process, which should be the service"),
        warning(
          subject,
          "so it was not checked",
          "See GET /health/ready of the service, or stop it and run doctor again."
        )
      ])
    ),
    Effect.catchCause(() => Effect.succeed([unreachable(location, "the connection failed")]))
  )
}
