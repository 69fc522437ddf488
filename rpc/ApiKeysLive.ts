import { DateTime, Effect, Redacted } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import type { ApiKey } from "#domain/identity/Tenant.ts"
import { ApiKeyProcedures } from "#rpc/ApiKeys.ts"

const isoOrNull = (at: DateTime.Utc | null) => (at === null ? null : DateTime.formatIso(at))

const view = ({ apiKeyId, createdAt, expiresAt, name, preview, scopes }: ApiKey) => ({
  apiKeyId,
  name,
  preview,
  scopes,
  createdAt: DateTime.formatIso(createdAt),
  expiresAt: isoOrNull(expiresAt)
})

export const ApiKeysLive = ApiKeyProcedures.toLayer(
  Effect.map(OwnKeys, (keys) => ({
    "apiKeys.create": ({ expiresAt = null, name, scopes }) =>
      Effect.map(keys.create({ name, scopes, expiresAt }), ({ key, secret }) => ({
        ...view(key),
        apiKey: Redacted.value(secret)
      })),
    "apiKeys.list": () =>
      Effect.map(keys.list, (all) => ({
        keys: all.map((key) => ({
          ...view(key),
          revokedAt: isoOrNull(key.revokedAt),
          lastUsedAt: isoOrNull(key.lastUsedAt)
        }))
      })),
    "apiKeys.revoke": ({ apiKeyId }) => Effect.as(keys.revoke(apiKeyId), { apiKeyId, revoked: true as const })
  }))
).pipe(buildWith(OwnKeys))
