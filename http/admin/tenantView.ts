/** Tenants and keys as the admin routes show them; never the secret or its hash. */
import { DateTime } from "effect"
import type { ApiKey, Tenant } from "#domain/identity/Tenant.ts"

const isoOrNull = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

export const tenantView = (tenant: Tenant) => ({
  tenantId: tenant.tenantId,
  name: tenant.name,
  email: tenant.email,
  entitlements: tenant.entitlements,
  createdAt: DateTime.formatIso(tenant.createdAt),
  disabledAt: isoOrNull(tenant.disabledAt)
})

export const keyView = (key: ApiKey) => ({
  apiKeyId: key.apiKeyId,
  tenantId: key.tenantId,
  name: key.name,
  preview: key.preview,
  scopes: key.scopes,
  createdAt: DateTime.formatIso(key.createdAt),
  expiresAt: isoOrNull(key.expiresAt),
  revokedAt: isoOrNull(key.revokedAt),
  lastUsedAt: isoOrNull(key.lastUsedAt),
  replacedBy: key.replacedBy
})

/** One that was not used, revoked or rotated yet. */
export const newKeyView = (key: ApiKey) => {
  const { lastUsedAt: _1, replacedBy: _2, revokedAt: _3, ...view } = keyView(key)
  return view
}
