/** Tenants and keys as the admin routes show them; never the secret or its hash. */
import { DateTime } from "effect"
import type { ApiKey, ListedKey, Tenant } from "#domain/identity/Tenant.ts"

const isoOrNull = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

export const tenantView = (tenant: Tenant) => ({
  tenantId: tenant.tenantId,
  name: tenant.name,
  email: tenant.email,
  entitlements: tenant.entitlements,
  createdAt: DateTime.formatIso(tenant.createdAt),
  disabledAt: isoOrNull(tenant.disabledAt)
})

/** As a list shows it. */
export const listedKeyView = (key: ListedKey) => ({ ...keyView(key), lastUsedAt: isoOrNull(key.lastUsedAt) })

export const keyView = (key: ApiKey) => ({
  apiKeyId: key.apiKeyId,
  tenantId: key.tenantId,
  name: key.name,
  preview: key.preview,
  scopes: key.scopes,
  createdAt: DateTime.formatIso(key.createdAt),
  expiresAt: isoOrNull(key.expiresAt),
  revokedAt: isoOrNull(key.revokedAt)
})
