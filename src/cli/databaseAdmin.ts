/** Works on the database itself, for a deployment whose service need not run. */
import { Duration, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { type Environment, KeyEnvironment } from "#domain/identity/KeyEnvironment.ts"
import { type CreatedKey, Tenants } from "#domain/identity/Tenants.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import type { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { maxListed, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { pepperOfService } from "#layers/sql/identity/Peppers.ts"
import * as SqlSuspendedRuns from "#layers/sql/operation/SuspendedRuns.ts"
import * as TenantStore from "#layers/sql/identity/TenantStore.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { serviceDatabase } from "#src/cli/serviceDatabase.ts"
import { AdminFailed, type IssuedKey, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const withoutPepper = new AdminFailed({
  reason:
    "API_KEY_PEPPER is not set; a key can be made only under the pepper of the service, or the service would not know it"
})

const wrongPepper = new AdminFailed({
  reason:
    "API_KEY_PEPPER is not the one that the service of this database was started with, which would not know the key; set that one"
})

const orFailed = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.mapError(effect, ({ message }) => new AdminFailed({ reason: message }))

const issued = ({ key: { apiKeyId, expiresAt, name, scopes }, secret }: CreatedKey): IssuedKey => ({
  apiKeyId,
  name,
  scopes,
  expiresAt,
  secret
})

const admin = (hasPepper: boolean) =>
  Layer.effect(
    TenantAdmin,
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const { pepperName } = yield* KeyHash
      const noted = yield* pepperOfService
      const requirePepper = !hasPepper
        ? Effect.fail(withoutPepper)
        : noted === null || noted === pepperName
          ? Effect.void
          : Effect.fail(wrongPepper)

      return TenantAdmin.of({
        create: tenants.create,
        list: tenants.list,
        disable: (tenantId) => orFailed(tenants.disable(tenantId)),
        enable: (tenantId) => orFailed(tenants.enable(tenantId)),
        createKey: (tenantId, key) =>
          Effect.andThen(requirePepper, orFailed(Effect.map(tenants.createKey(tenantId, key), issued))),
        rotateKey: (tenantId, apiKeyId, overlapSeconds) =>
          Effect.andThen(
            requirePepper,
            orFailed(
              Effect.map(tenants.rotateKey(tenantId, apiKeyId, Duration.seconds(overlapSeconds)), (rotated) => ({
                ...issued(rotated),
                replaces: { apiKeyId, endsAt: rotated.oldEndsAt }
              }))
            )
          ),
        listKeys: (tenantId) => orFailed(tenants.listKeys(tenantId)),
        revokeKey: (tenantId, apiKeyId) => orFailed(tenants.revokeKey(tenantId, apiKeyId))
      })
    })
  )

const runAdmin = Layer.effect(
  RunAdmin,
  Effect.map(SuspendedRuns, ({ cancel, find, list, resume }) =>
    RunAdmin.of({ list: list(maxListed), find, resume, cancel })
  )
).pipe(Layer.provide(SqlSuspendedRuns.layer))

/** Works on a database that is the service's and of this release. Without a pepper everything works but making keys. */
export const databaseAdmin = (
  database: DatabaseConfig["Service"],
  pepper: Redacted.Redacted | null,
  environment: Environment
) =>
  Layer.merge(admin(pepper !== null), runAdmin).pipe(
    Layer.provide(Tenants.layer),
    Layer.provide([AccessChanges.layer, TenantStore.layer, KeyHashLive, SecureRandom.layerWebCrypto]),
    Layer.provide(serviceDatabase(database)),
    Layer.provide([
      Layer.succeed(KeyEnvironment, environment),
      Layer.succeed(KeyHashConfig, { pepper: pepper ?? Redacted.make("") })
    ])
  )
