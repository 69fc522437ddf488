/** Calls a running service over its admin routes. */
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { TenantId } from "#domain/values/Ids.ts"
import { Admin } from "#http/admin/Admin.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { AdminFailed, TenantAdmin } from "#src/cli/TenantAdmin.ts"

const answerLimit = Duration.seconds(15)

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

/** Limits the time of a call, and names the service in its error. */
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

const runAdmin = (adminUrl: string, adminToken: Redacted.Redacted) =>
  Layer.effect(
    RunAdmin,
    Effect.gen(function* () {
      const { runs } = yield* adminClient(adminUrl, adminToken)
      const orFailed = orFailedAt(adminUrl)
      return RunAdmin.of({
        list: orFailed(Effect.map(runs.listRuns(), ({ data }) => data.runs)),
        find: (id) =>
          runs.showRun({ params: { id } }).pipe(
            Effect.map(({ data }) => Option.some(data)),
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

      const setDisabled = (tenantId: TenantId, disabled: boolean) =>
        orFailed(Effect.map(tenants.updateTenant({ params: { tenantId }, payload: { disabled } }), ({ data }) => data))

      return TenantAdmin.of({
        create: ({ email, entitlements, name }) =>
          orFailed(Effect.map(tenants.createTenant({ payload: { name, email, entitlements } }), ({ data }) => data)),
        list: orFailed(Effect.map(tenants.listTenants({}), ({ data }) => data.tenants)),
        disable: (tenantId) => setDisabled(tenantId, true),
        enable: (tenantId) => setDisabled(tenantId, false),
        createKey: (tenantId, { expiresAt, name, scopes }) =>
          orFailed(
            tenants
              .createKey({ params: { tenantId }, payload: { name, scopes, expiresAt } })
              .pipe(Effect.map(({ data: { apiKey, ...issued } }) => ({ ...issued, secret: Redacted.make(apiKey) })))
          ),
        rotateKey: (tenantId, apiKeyId, overlapSeconds) =>
          orFailed(
            tenants
              .rotateKey({ params: { tenantId, apiKeyId }, payload: { overlapSeconds } })
              .pipe(Effect.map(({ data: { apiKey, ...issued } }) => ({ ...issued, secret: Redacted.make(apiKey) })))
          ),
        listKeys: (tenantId) =>
          orFailed(Effect.map(tenants.listKeys({ params: { tenantId } }), ({ data }) => data.keys)),
        revokeKey: (tenantId, apiKeyId) =>
          orFailed(Effect.asVoid(tenants.revokeKey({ params: { tenantId, apiKeyId } })))
      })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
