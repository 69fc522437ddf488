/** Port: what the runs of portfolios that follow a policy have cost and sold, by their reports. */
import { Context, type DateTime, type Effect } from "effect"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { Slicing } from "#domain/trading/Slicing.ts"

/**
 * What runs have cost and sold.
 *
 * **When to use**
 *
 * Use to apply limits of cost and slices within a period to the next plan.
 */
export class CostLedger extends Context.Service<
  CostLedger,
  {
    /**
     * US dollars (wad) that trades which landed since then were reckoned to cost; a portfolio without any is absent.
     */
    readonly spent: (
      portfolioIds: ReadonlyArray<PortfolioId>,
      since: DateTime.Utc
    ) => Effect.Effect<ReadonlyMap<PortfolioId, bigint>>
    /** What swaps that landed since then have sold into each pool of their paths. */
    readonly sold: (
      portfolioIds: ReadonlyArray<PortfolioId>,
      since: DateTime.Utc
    ) => Effect.Effect<ReadonlyMap<PortfolioId, Slicing["sold"]>>
  }
>()("ballast/domain/rebalance/CostLedger") {}
