/** The portfolio that a withdrawal is taken from, as far as both stages need to know it. */
import type { WalletId } from "#domain/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { PortfolioId, TenantId } from "#domain/Ids.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"

export interface WithdrawalSource {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly ownerAccountId: WalletId
  /** Oldest first; the accounts of the portfolio and the name under which its owner is asked are in them. */
  readonly grants: ReadonlyArray<Grant>
  readonly swap: SwapSources
}
