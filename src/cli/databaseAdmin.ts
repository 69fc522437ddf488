/** Works on the database itself, for a deployment whose service need not run. */
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Environment, KeyEnvironment } from "#domain/identity/KeyEnvironment.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { mostListed, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import * as SqlSuspendedRuns from "#layers/sql/run/SuspendedRuns.ts"
import * as TenantStore from "#layers/sql/identity/TenantStore.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { AdminFailed, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const withoutPepper = new AdminFailed({
  reason:
    "API_KEY_PEPPER is not set; a key can be made only under the pepper of the service, or the service would not know it"
})

const admin = (hasPepper: boolean) =>
  Layer.effect(
    TenantAdmin,
    Effect.map(Tenants, (tenants) => {
      const orFailed = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
        Effect.mapError(effect, ({ message }) => new AdminFailed({ reason: message }))
      return TenantAdmin.of({
        create: tenants.create,
        list: tenants.list,
        disable: (tenantId) => orFailed(tenants.disable(tenantId)),
        enable: (tenantId) => orFailed(tenants.enable(tenantId)),
        createKey: (tenantId, key) =>
          !hasPepper
            ? Effect.fail(withoutPepper)
            : orFailed(
                Effect.map(tenants.createKey(tenantId, key), (created) => ({
                  apiKeyId: created.key.apiKeyId,
                  name: created.key.name,
                  scopes: created.key.scopes,
                  expiresAt: created.key.expiresAt,
                  secret: created.secret
                }))
              ),
        listKeys: (tenantId) => orFailed(tenants.listKeys(tenantId)),
        revokeKey: (tenantId, apiKeyId) => orFailed(tenants.revokeKey(tenantId, apiKeyId))
      })
    })
  )

const runAdmin = Layer.effect(
  RunAdmin,
  Effect.map(SuspendedRuns, ({ cancel, find, list, resume }) =>
    RunAdmin.of({ list: list(mostListed), find, resume, cancel })
  )
).pipe(Layer.provide(SqlSuspendedRuns.layer))

/**
 * Brings the schema up to date first, so the first tenant can be made before the service has ever run. Without a pepper
 * everything works but making keys.
 */
export const databaseAdmin = (
  database: DatabaseConfig["Service"],
  pepper: Redacted.Redacted | null,
  environment: Environment
) =>
  Layer.merge(admin(pepper !== null), runAdmin).pipe(
    Layer.provide(Tenants.layer),
    Layer.provide([TenantStore.layer, KeyHashLive, SecureRandom.layerWebCrypto]),
    Layer.provide(Migrations.layer),
    Layer.provide(Database.layer),
    Layer.provide([
      Layer.succeed(DatabaseConfig, database),
      Layer.succeed(KeyEnvironment, environment),
      Layer.succeed(KeyHashConfig, { pepper: pepper ?? Redacted.make("") })
    ])
  )
