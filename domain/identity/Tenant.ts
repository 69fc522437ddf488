/** An integrator and its API keys. Source: interface "Authentication", shapes 2.1 and V. */
import type { DateTime } from "effect"
import { TenantDisabled } from "#domain/errors/Errors.ts"
import type { Environment } from "#domain/identity/KeyEnvironment.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { Scope } from "#domain/values/Scopes.ts"

/** An integrator: owns strategies, portfolios and keys. A disabled tenant's keys answer `API_106`. */
export interface Tenant {
  readonly tenantId: TenantId
  readonly name: string
  readonly email: string
  /** Commercial switches such as `svm_b2b_api`. */
  readonly entitlements: ReadonlyArray<string>
  readonly createdAt: DateTime.Utc
  readonly disabledAt: DateTime.Utc | null
}

/** What is answered to whoever is of a disabled tenant. */
export const tenantDisabled = () => new TenantDisabled({ message: "The tenant is disabled; contact support" })

/** A key as it is stored: never the secret, only what identifies it to people and what it may do. */
export interface ApiKey {
  readonly apiKeyId: ApiKeyId
  readonly tenantId: TenantId
  readonly name: string
  /** First characters of the secret, by which a person recognizes the key. */
  readonly preview: string
  readonly scopes: ReadonlyArray<Scope>
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | null
  readonly revokedAt: DateTime.Utc | null
  /** Last use, within a quarter of a minute; null while the key was never used, or not since uses are noted. */
  readonly lastUsedAt: DateTime.Utc | null
  /** The key that it was rotated into; it ends by its own `expiresAt`. */
  readonly replacedBy: ApiKeyId | null
  /** Where it works. */
  readonly environment: Environment
}
