/**
 * Chooses how the command line reaches tenants and keys: the service that BALLAST_ADMIN_URL names, else the database,
 * else, when a running service holds the embedded database, that service.
 */
import { Effect, FileSystem, Layer, Path, Redacted, Schema } from "effect"
import type { DirectoryInUse } from "#layers/sql/pglite/lockDirectory.ts"
import { databaseAdmin } from "#src/cli/databaseAdmin.ts"
import { serviceAdmin } from "#src/cli/serviceAdmin.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"
import { cliConfig } from "#src/Config.ts"

/** What a service with an embedded database leaves in its DATA_DIR for the command line, readable by its user alone. */
const ServiceFile = Schema.fromJsonString(Schema.Struct({ adminUrl: Schema.String, adminToken: Schema.String }))

const runningService = Effect.fnUntraced(function* (dataDir: string, held: DirectoryInUse) {
  const files = yield* FileSystem.FileSystem
  const path = (yield* Path.Path).join(dataDir, "service.json")
  const { adminUrl, adminToken } = yield* Effect.flatMap(
    files.readFileString(path),
    Schema.decodeUnknownEffect(ServiceFile)
  ).pipe(
    Effect.mapError(
      () =>
        new AdminFailed({
          reason: `${held.message} If that process is the service, set BALLAST_ADMIN_URL and ADMIN_TOKEN to ask it; ${path} does not say where it is.`
        })
    )
  )
  return serviceAdmin(adminUrl, Redacted.make(adminToken))
})

export const adminAccess = Layer.unwrap(
  Effect.gen(function* () {
    const { adminToken, adminUrl, database, keyEnvironment, pepper } = yield* cliConfig
    if (adminUrl !== null) {
      if (adminToken !== null) return serviceAdmin(adminUrl, adminToken)
      return yield* new AdminFailed({
        reason: "BALLAST_ADMIN_URL is set, so ADMIN_TOKEN must be the token of that service"
      })
    }
    return databaseAdmin(database, pepper, keyEnvironment).pipe(
      Layer.catchTag("DirectoryInUse", (held) => Layer.unwrap(runningService(database.dataDir, held)))
    )
  })
)
