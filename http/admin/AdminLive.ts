import { Duration, Effect, Layer, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Tenants } from "#domain/identity/Tenants.ts"
import { serveGroups } from "#http/serveGroups.ts"
import { Admin, defaultOverlapSeconds } from "#http/admin/Admin.ts"
import { AdminAuditLive } from "#http/admin/AdminAuditLive.ts"
import { AdminAuthLive } from "#http/admin/AdminAuthLive.ts"
import { ErrorsV1Live } from "#http/middleware/ErrorsV1Live.ts"
import { CurationLive } from "#http/admin/CurationLive.ts"
import { MirrorabilityLive } from "#http/admin/MirrorabilityLive.ts"
import { RunsLive } from "#http/admin/RunsLive.ts"
import { WorkflowMonitorsLive } from "#http/admin/WorkflowMonitorsLive.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"

const TenantsLive = HttpApiBuilder.group(
  Admin,
  "tenants",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants

    return handlers.handleAll({
      createTenant: ({ payload: { entitlements = [], ...tenant } }) =>
        Effect.flatMap(tenants.create({ ...tenant, entitlements }), (created) => successV1(created)),
      listTenants: () => Effect.flatMap(tenants.list, (all) => successV1({ tenants: all })),
      updateTenant: Effect.fnUntraced(function* ({ params: { tenantId }, payload: { disabled, entitlements } }) {
        const granted = entitlements === undefined ? undefined : yield* tenants.setEntitlements(tenantId, entitlements)
        if (disabled === undefined && granted !== undefined) return yield* successV1(granted)
        return yield* successV1(yield* disabled ? tenants.disable(tenantId) : tenants.enable(tenantId))
      }),
      setOwner: ({ params: { tenantId }, payload: { ownerAddress } }) =>
        Effect.andThen(tenants.setOwner(tenantId, ownerAddress), successV1({ tenantId, ownerAddress })),
      createKey: ({ params, payload: { name, scopes = [], expiresAt = null } }) =>
        Effect.flatMap(tenants.createKey(params.tenantId, { name, scopes, expiresAt }), ({ key, secret }) =>
          successV1({ ...key, apiKey: Redacted.value(secret) })
        ),
      rotateKey: ({ params: { tenantId, apiKeyId }, payload: { overlapSeconds = defaultOverlapSeconds } }) =>
        Effect.flatMap(
          tenants.rotateKey(tenantId, apiKeyId, Duration.seconds(overlapSeconds)),
          ({ key, oldEndsAt, secret }) =>
            successV1({
              ...key,
              apiKey: Redacted.value(secret),
              replaces: { apiKeyId, endsAt: oldEndsAt }
            })
        ),
      listKeys: ({ params }) => Effect.flatMap(tenants.listKeys(params.tenantId), (keys) => successV1({ keys })),
      revokeKey: ({ params: { tenantId, apiKeyId } }) =>
        Effect.andThen(tenants.revokeKey(tenantId, apiKeyId), successV1({ apiKeyId, revoked: true as const }))
    })
  })
)

/** The operator's routes. */
export const AdminLive = serveGroups(Admin, {
  tenants: TenantsLive,
  curation: CurationLive,
  mirrorability: MirrorabilityLive,
  runs: RunsLive,
  workflowMonitors: WorkflowMonitorsLive
}).pipe(Layer.provide(Layer.mergeAll(AdminAuditLive, AdminAuthLive, ErrorsV1Live, RequestErrorsLive)))
