/** A portfolio as far as what its owner asks of it needs it: whose it is, and which accounts it has. */
import type { WalletId } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"

export interface OwnedPortfolio {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly ownerAccountId: WalletId
  /** Oldest first; the accounts of the portfolio and the name of its owner in messages are in them. */
  readonly grants: ReadonlyArray<Grant>
}
