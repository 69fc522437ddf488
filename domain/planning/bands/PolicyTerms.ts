/** What the trades of one chain are weighed by under a rebalance policy. */
import type { ChainGas, PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { TradeTerms } from "#domain/planning/Tolerance.ts"
import type { TradeCosts } from "#domain/planning/bands/tradeCost.ts"

export interface PolicyTerms extends TradeTerms {
  readonly policy: PlanPolicy
  readonly costs: TradeCosts
  readonly gas: ChainGas
}
