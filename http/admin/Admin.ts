/**
 * Contract: the operator's routes for tenants and their API keys, in the v1 envelope. Not part of the published API.
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { describedParsing } from "#domain/errors/describeIssue.ts"
import { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { Scope } from "#domain/values/Scopes.ts"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { AdminAuth } from "#http/admin/AdminAuth.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { Curation } from "#http/admin/Curation.ts"
import { Mirrorability } from "#http/admin/Mirrorability.ts"
import { WorkflowMonitors } from "#http/admin/WorkflowMonitors.ts"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { Runs } from "#http/admin/Runs.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { nameText } from "#http/values/freeText.ts"
import { NotFound, ValidationFailed } from "#http/wireErrors.ts"

const At = Schema.DateTimeUtcFromString
const SentAt = utcFromText()

const Tenant = Schema.Struct({
  tenantId: TenantId,
  name: Schema.String,
  email: Schema.String,
  entitlements: Schema.Array(Schema.String),
  createdAt: At,
  disabledAt: Schema.NullOr(At)
})

/** Never the secret or its hash. */
const key = {
  apiKeyId: ApiKeyId,
  tenantId: TenantId,
  name: Schema.String,
  preview: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: At,
  expiresAt: Schema.NullOr(At)
}

const entitlement = Schema.String.check(
  Schema.isPattern(/^[a-z0-9_]{1,64}$/u, { expected: "an entitlement of lower-case letters, digits and _" })
).annotate({ examples: ["svm_b2b_api"] })

const Entitlements = Schema.Array(entitlement).check(Schema.isMaxLength(64))

const NewTenant = Schema.Struct({
  name: nameText(256, "Name of the integrator.", "Northwind"),
  email: Schema.String.check(
    Schema.isMaxLength(320),
    Schema.isPattern(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { expected: "an e-mail address" })
  ).annotate({ examples: ["ops@northwind.example"] }),
  entitlements: Schema.optionalKey(Entitlements)
})

const NewKey = Schema.Struct({
  name: nameText(256, "What people call the key.", "Production"),
  /** Besides the default tier, which every key has. */
  scopes: Schema.optionalKey(Schema.Array(Scope).check(Schema.isMaxLength(64))),
  expiresAt: Schema.optionalKey(Schema.NullOr(SentAt))
})

/** How long a key that was rotated works beside the new one, by default and at most. */
export const defaultOverlapSeconds = 86_400
export const maxOverlapSeconds = 30 * 86_400

const tenant = { tenantId: TenantId }

const tenants = HttpApiGroup.make("tenants")
  .add(
    HttpApiEndpoint.post("createTenant", "/tenants", {
      payload: NewTenant,
      success: okV1(Tenant).pipe(HttpApiSchema.status(201))
    }),
    HttpApiEndpoint.get("listTenants", "/tenants", { success: okV1(Schema.Struct({ tenants: Schema.Array(Tenant) })) }),
    HttpApiEndpoint.patch("updateTenant", "/tenants/:tenantId", {
      params: tenant,
      payload: Schema.Struct({
        disabled: Schema.optionalKey(Schema.Boolean),
        entitlements: Schema.optionalKey(Entitlements)
      }).check(
        Schema.makeFilter(
          ({ disabled, entitlements }) =>
            disabled !== undefined || entitlements !== undefined || "Expected disabled or entitlements"
        )
      ),
      success: okV1(Tenant),
      error: NotFound
    }),
    // Whose the tenant's strategies are, beside the wallets that sign in as its owners; null removes it.
    HttpApiEndpoint.put("setOwner", "/tenants/:tenantId/owner", {
      params: tenant,
      payload: Schema.Struct({ ownerAddress: Schema.NullOr(OwnerAddress) }),
      success: okV1(Schema.Struct({ tenantId: Schema.String, ownerAddress: Schema.NullOr(Schema.String) })),
      error: NotFound
    }),
    // `apiKey` is the secret; this answer is the only place where it is ever shown.
    HttpApiEndpoint.post("createKey", "/tenants/:tenantId/keys", {
      params: tenant,
      payload: NewKey,
      success: okV1(Schema.Struct({ ...key, apiKey: Schema.String })).pipe(HttpApiSchema.status(201)),
      error: NotFound
    }),
    // A new secret for the same use; the key before works for the overlap more.
    HttpApiEndpoint.post("rotateKey", "/tenants/:tenantId/keys/:apiKeyId/rotate", {
      params: { ...tenant, apiKeyId: ApiKeyId },
      payload: Schema.Struct({
        overlapSeconds: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxOverlapSeconds })).annotate({
            examples: [defaultOverlapSeconds]
          })
        )
      }),
      success: okV1(
        Schema.Struct({
          ...key,
          apiKey: Schema.String,
          replaces: Schema.Struct({ apiKeyId: ApiKeyId, endsAt: At })
        })
      ).pipe(HttpApiSchema.status(201)),
      error: [NotFound, ValidationFailed]
    }),
    HttpApiEndpoint.get("listKeys", "/tenants/:tenantId/keys", {
      params: tenant,
      success: okV1(
        Schema.Struct({
          keys: Schema.Array(
            Schema.Struct({
              ...key,
              revokedAt: Schema.NullOr(At),
              lastUsedAt: Schema.NullOr(At),
              replacedBy: Schema.NullOr(ApiKeyId)
            })
          )
        })
      ),
      error: NotFound
    }),
    HttpApiEndpoint.delete("revokeKey", "/tenants/:tenantId/keys/:apiKeyId", {
      params: { ...tenant, apiKeyId: ApiKeyId },
      success: okV1(Schema.Struct({ apiKeyId: Schema.String, revoked: Schema.Literal(true) })),
      error: NotFound
    })
  )
  .middleware(RequestErrors)
  .middleware(AdminAuth)
  .middleware(ErrorsV1)
  .middleware(AdminAudit)
  .prefix("/v1/admin")

export const Admin = HttpApi.make("admin")
  .add(tenants, Curation, Mirrorability, Runs, WorkflowMonitors)
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { ...describedParsing, onExcessProperty: "error" })
