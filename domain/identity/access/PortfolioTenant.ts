/**
 * The tenant of the portfolios that a call is about, once it is decided that its sender may. Provided for keys where
 * they are authenticated, and for people with a session by `PortfolioAccess`, for one portfolio at a time.
 */
import { Context } from "effect"
import type { TenantId } from "#domain/values/Ids.ts"

/**
 * The tenant of the portfolios that a call is about.
 *
 * **When to use**
 *
 * Use in services that both keys and people with a session may call. What keys alone may do requires `Caller`.
 */
export class PortfolioTenant extends Context.Service<PortfolioTenant, { readonly tenantId: TenantId }>()(
  "ballast/domain/identity/access/PortfolioTenant"
) {}
