/**
 * Who is calling: the tenant behind the API key and what the key may do. Provided to every authenticated handler.
 */
import { Context } from "effect"
import type { ApiKeyId, TenantId } from "#domain/Ids.ts"
import type { Scope } from "#domain/Scopes.ts"

export class Caller extends Context.Service<
  Caller,
  {
    readonly tenantId: TenantId
    readonly tenantName: string
    readonly tenantEmail: string
    readonly entitlements: ReadonlySet<string>
    readonly apiKeyId: ApiKeyId
    readonly scopes: ReadonlySet<Scope>
  }
>()("ballast/domain/identity/Caller") {}
