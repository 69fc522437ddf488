/** Port: which portfolios a person with a session may see, of whatever tenant. */
import { Context, type Effect, type Option } from "effect"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { SignedIn } from "#domain/identity/SignedIn.ts"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import type { PortfolioFilter } from "#domain/portfolio/PortfolioStore.ts"

/** The person, as far as it decides what they may see. */
export type Person = Pick<SignedIn["Service"], "tenantId" | "walletId">

/** A portfolio of the person's tenant, or of their wallet. */
export interface SeenPortfolio {
  readonly tenantId: TenantId
  /** The person's wallet owns it. */
  readonly isOwned: boolean
  /** What the portfolio's tenant lets owners do. */
  readonly ownerActions: ReadonlyArray<OwnerAction>
}

/** Filters by which a person may narrow a list: nothing that the tenant alone knows. */
export type SeenFilter = Pick<PortfolioFilter, "ownerAccountId" | "strategyId" | "status">

/**
 * Which portfolios a person may see.
 *
 * **When to use**
 *
 * Use in `PortfolioAccess` alone.
 */
export class PortfolioAccessStore extends Context.Service<
  PortfolioAccessStore,
  {
    /** None when the portfolio is neither of the person's tenant nor of their wallet. */
    readonly find: (person: Person, portfolioId: PortfolioId) => Effect.Effect<Option.Option<SeenPortfolio>>
    /**
     * Portfolios of the person's wallet in tenants other than theirs, newest first, archived ones left out; one row
     * more than the limit when there is a next page.
     */
    readonly elsewhere: (
      person: Person,
      filter: SeenFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<Portfolio>>
  }
>()("ballast/domain/portfolio/PortfolioAccessStore") {}
