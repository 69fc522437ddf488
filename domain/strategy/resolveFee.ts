/** Which swap fee applies: the strategy's override, else the tenant's, else none. Source: shapes 2.13 and 2.14. */
import type { TenantId } from "#domain/Ids.ts"
import type { SwapFee } from "#domain/SwapFee.ts"

/** A configured fee and the tenant that configured it. */
export interface OwnedFee extends SwapFee {
  readonly tenantId: TenantId
}

/**
 * The fee, in basis points, on swaps of a portfolio of `tenant` that follows `strategy`.
 *
 * The override is the creator's agreement with its own users: a tenant that mirrors the strategy can neither see nor
 * change it, so its portfolios pay that tenant's own fee.
 */
export const resolveFee = (strategy: OwnedFee, tenant: OwnedFee): number => {
  const override = strategy.tenantId === tenant.tenantId ? strategy.swapBps : null
  return override ?? tenant.swapBps ?? 0
}
