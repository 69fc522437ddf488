/** Calls services of the domain as a tenant whose key has no scope that they ask for. */
import { Context, Effect } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { Scope } from "#domain/values/Scopes.ts"

export const asTenant = (tenantId: TenantId) => {
  const caller = {
    tenantId,
    tenantName: "",
    tenantEmail: "",
    entitlements: new Set<string>(),
    apiKeyId: "key_01J00000000000000000000000" as ApiKeyId,
    scopes: new Set<Scope>()
  }
  return Effect.provideContext(Context.make(Caller, caller).pipe(Context.add(PortfolioTenant, caller)))
}
