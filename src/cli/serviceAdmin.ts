/** Calls a running service over its admin routes. */
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { ApiKeyId, TenantId } from "#domain/Ids.ts"
import { Scope } from "#domain/Scopes.ts"
import { SuspendedRun } from "#domain/operation/SuspendedRuns.ts"
import { Admin } from "#http/admin/Admin.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { AdminFailed, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const answerLimit = Duration.seconds(15)

const Tenant = Schema.Struct({
  tenantId: TenantId,
  name: Schema.String,
  email: Schema.String,
  entitlements: Schema.Array(Schema.String),
  createdAt: Schema.DateTimeUtcFromString,
  disabledAt: Schema.NullOr(Schema.DateTimeUtcFromString)
})

const key = {
  apiKeyId: ApiKeyId,
  tenantId: TenantId,
  name: Schema.String,
  preview: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: Schema.DateTimeUtcFromString,
  expiresAt: Schema.NullOr(Schema.DateTimeUtcFromString)
}

const ListedKey = Schema.Struct({
  ...key,
  revokedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  lastUsedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  replacedBy: Schema.NullOr(ApiKeyId)
})

const IssuedKey = Schema.Struct({ ...key, apiKey: Schema.String })

const RotatedKey = Schema.Struct({
  ...IssuedKey.fields,
  replaces: Schema.Struct({ apiKeyId: ApiKeyId, endsAt: Schema.DateTimeUtcFromString })
})

const reasonOf = (error: { readonly message: string }): string => {
  if (!HttpClientError.isHttpClientError(error)) return error.message
  if (error.reason._tag === "TransportError") return "it cannot be reached; is it running?"
  return error.response === undefined ? error.message : `it answered ${error.response.status}`
}

const adminClient = (adminUrl: string, adminToken: Redacted.Redacted) =>
  HttpApiClient.make(Admin, {
    baseUrl: adminUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(adminToken))
  })

/** In time, and with an error that names the service. */
const orFailedAt =
  (adminUrl: string) =>
  <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
    effect.pipe(
      Effect.timeoutOrElse({
        duration: answerLimit,
        orElse: () => Effect.fail({ message: `it did not answer in ${Duration.format(answerLimit)}` })
      }),
      Effect.mapError(
        (error) => new AdminFailed({ reason: `The service at ${adminUrl} did not do it: ${reasonOf(error)}` })
      )
    )

const Run = Schema.Struct({ ...SuspendedRun.fields, suspendedAt: Schema.DateTimeUtcFromString })

const runAdmin = (adminUrl: string, adminToken: Redacted.Redacted) =>
  Layer.effect(
    RunAdmin,
    Effect.gen(function* () {
      const { runs } = yield* adminClient(adminUrl, adminToken)
      const orFailed = orFailedAt(adminUrl)
      const read = Schema.decodeUnknownEffect(Run)
      const readAll = Schema.decodeUnknownEffect(Schema.Array(Run))
      return RunAdmin.of({
        list: orFailed(Effect.flatMap(runs.listRuns(), ({ data }) => readAll(data.runs))),
        find: (id) =>
          runs.showRun({ params: { id } }).pipe(
            Effect.flatMap(({ data }) => read(data)),
            Effect.asSome,
            Effect.catchTag("NotFound", () => Effect.succeedNone),
            orFailed
          ),
        resume: (id) =>
          runs.resumeRun({ params: { id } }).pipe(
            Effect.as(true),
            Effect.catchTag("NotFound", () => Effect.succeed(false)),
            orFailed
          ),
        cancel: (id) =>
          runs.cancelRun({ params: { id } }).pipe(
            Effect.as("Requested" as const),
            Effect.catchTags({
              NotFound: () => Effect.succeed("Unknown" as const),
              OperationNotCancellable: () => Effect.succeed("NotCancellable" as const)
            }),
            orFailed
          )
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))

export const serviceAdmin = (adminUrl: string, adminToken: Redacted.Redacted) =>
  Layer.merge(tenantAdmin(adminUrl, adminToken), runAdmin(adminUrl, adminToken))

const tenantAdmin = (adminUrl: string, adminToken: Redacted.Redacted) =>
  Layer.effect(
    TenantAdmin,
    Effect.gen(function* () {
      const { tenants } = yield* adminClient(adminUrl, adminToken)
      const orFailed = orFailedAt(adminUrl)

      const read = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) =>
        Schema.decodeUnknownEffect(schema)

      const setDisabled = (tenantId: TenantId, disabled: boolean) =>
        orFailed(
          Effect.flatMap(tenants.updateTenant({ params: { tenantId }, payload: { disabled } }), ({ data }) =>
            read(Tenant)(data)
          )
        )

      return TenantAdmin.of({
        create: ({ email, entitlements, name }) =>
          orFailed(
            Effect.flatMap(tenants.createTenant({ payload: { name, email, entitlements } }), ({ data }) =>
              read(Tenant)(data)
            )
          ),
        list: orFailed(Effect.flatMap(tenants.listTenants({}), ({ data }) => read(Schema.Array(Tenant))(data.tenants))),
        disable: (tenantId) => setDisabled(tenantId, true),
        enable: (tenantId) => setDisabled(tenantId, false),
        createKey: (tenantId, { expiresAt, name, scopes }) =>
          orFailed(
            tenants.createKey({ params: { tenantId }, payload: { name, scopes, expiresAt } }).pipe(
              Effect.flatMap(({ data }) => read(IssuedKey)(data)),
              Effect.map(({ apiKey, ...issued }) => ({ ...issued, secret: Redacted.make(apiKey) }))
            )
          ),
        rotateKey: (tenantId, apiKeyId, overlapSeconds) =>
          orFailed(
            tenants.rotateKey({ params: { tenantId, apiKeyId }, payload: { overlapSeconds } }).pipe(
              Effect.flatMap(({ data }) => read(RotatedKey)(data)),
              Effect.map(({ apiKey, ...issued }) => ({ ...issued, secret: Redacted.make(apiKey) }))
            )
          ),
        listKeys: (tenantId) =>
          orFailed(
            Effect.flatMap(tenants.listKeys({ params: { tenantId } }), ({ data }) =>
              read(Schema.Array(ListedKey))(data.keys)
            )
          ),
        revokeKey: (tenantId, apiKeyId) =>
          orFailed(Effect.asVoid(tenants.revokeKey({ params: { tenantId, apiKeyId } })))
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
