/** Port: where portfolios and their schedules are kept. A foreign tenant's portfolio is never returned. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { WalletId } from "#domain/values/Caip.ts"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { LabelsFilter, LabelsPatch, LabelsRefusal } from "#domain/values/Labels.ts"
import type { StoredPortfolio } from "#domain/portfolio/PortfolioDetail.ts"
import type { Permission, Portfolio, ScheduleStatus } from "#domain/portfolio/Portfolio.ts"

export interface PortfolioFilter extends LabelsFilter {
  readonly ownerAccountId?: WalletId | undefined
  readonly strategyId?: StrategyId | undefined
  /** Leaves out portfolios without a schedule. */
  readonly status?: ScheduleStatus | undefined
  /** Filter: `call_policy` finds those with an account whose permission has no guard; `guard` those without any. */
  readonly permission?: Permission | undefined
}

/** Null clears; what is left out stays. */
export interface PortfolioPatch extends LabelsPatch {
  readonly name?: string | null
}

/** A patch of one's own portfolio. */
export interface PortfolioChange {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly patch: PortfolioPatch
  readonly at: DateTime.Utc
}

/**
 * Where portfolios and their schedules are kept.
 *
 * **When to use**
 *
 * Use in `Portfolios` and `PortfolioAccess` alone. Other contexts read what they need of a portfolio through their own
 * stores.
 */
export class PortfolioStore extends Context.Service<
  PortfolioStore,
  {
    readonly find: (tenantId: TenantId, portfolioId: PortfolioId) => Effect.Effect<Option.Option<StoredPortfolio>>
    /** Newest first, archived ones left out; one row more than the limit when there is a next page. */
    readonly list: (
      tenantId: TenantId,
      filter: PortfolioFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<Portfolio>>
    readonly update: (change: PortfolioChange) => Effect.Effect<Option.Option<StoredPortfolio>, LabelsRefusal>
    /**
     * `paused` to `active` with the given due time. Already active, or revoked by the owner: no change. The answer is
     * the state this call saw or made.
     */
    readonly start: (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      dueAt: DateTime.Utc
    ) => Effect.Effect<Option.Option<StoredPortfolio>>
    /** `active` to `paused`, due time kept, with a note of why. Already paused: no change. */
    readonly stop: (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      change: { readonly at: DateTime.Utc; readonly note: string | null }
    ) => Effect.Effect<Option.Option<StoredPortfolio>>
  }
>()("ballast/domain/portfolio/PortfolioStore") {}
