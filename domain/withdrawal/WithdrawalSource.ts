/** The portfolio of a withdrawal, as far as both stages need it. */
import type { WalletId } from "#domain/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { PortfolioId, TenantId } from "#domain/Ids.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"

export interface WithdrawalSource {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly ownerAccountId: WalletId
  /** Oldest first; the accounts of the portfolio and the name of its owner in messages are in them. */
  readonly grants: ReadonlyArray<Grant>
  readonly swap: SwapSources
}
