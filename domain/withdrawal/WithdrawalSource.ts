/** The portfolio that a withdrawal is taken from, as far as both stages need to know it. */
import type { EvmWalletId } from "#domain/Caip.ts"
import type { Grant } from "#domain/enrollment/Grant.ts"
import type { PortfolioId, TenantId } from "#domain/Ids.ts"
import type { SwapPreferences } from "#domain/strategy/Strategy.ts"

export interface WithdrawalSource {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly ownerAccountId: EvmWalletId
  /** Oldest first; the accounts of the portfolio and the name under which its owner is asked are in them. */
  readonly grants: ReadonlyArray<Grant>
  /** The strategy's, then the tenant's. */
  readonly swap: ReadonlyArray<SwapPreferences>
}
