/**
 * The caller of a request: the tenant of the API key and what the key may do. Provided to every authenticated handler.
 */
import { Context } from "effect"
import type { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
import type { Scope } from "#domain/values/Scopes.ts"

/**
 * The tenant behind an API key, and what the key may do.
 *
 * **When to use**
 *
 * Use in services whose answer depends on the tenant, so that a foreign tenant's objects cannot be named. Tests provide
 * one to call such a service.
 *
 * **Example** (A caller for a test)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Caller } from "#domain/identity/Caller.ts"
 * import { ApiKeyId, TenantId } from "#domain/values/Ids.ts"
 * import { Operations } from "#domain/operation/Operations.ts"
 *
 * const acme = Caller.of({
 *   tenantId: TenantId.make("01JQ8ZKX4V6T3M9N2C5B7D8F0G"),
 *   tenantName: "Acme",
 *   tenantEmail: "ops@acme.example",
 *   entitlements: new Set(),
 *   apiKeyId: ApiKeyId.make("01JQ8ZKX4V6T3M9N2C5B7D8F0H"),
 *   scopes: new Set(["portfolios:read"])
 * })
 *
 * const newest = Effect.gen(function* () {
 *   const operations = yield* Operations
 *   return yield* operations.list({ limit: 10 })
 * }).pipe(Effect.provideService(Caller, acme))
 * ```
 */
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
