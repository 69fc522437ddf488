/** The planner of the service, checked each hour: by bands of its own finding, or to the exact target. */
import { assets } from "#bench/policies/paths.ts"
import { type CostLevel, wad } from "#bench/policies/simulate.ts"
import type { Rule } from "#domain/backtest/followRule.ts"
import { plannedAsset, plannedChain, plannerRule } from "#domain/backtest/plannerRule.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { Band } from "#domain/mandate/RebalancePolicy.ts"

const one = wad(1)
const weights = assets.map(({ weight }) => weight)

/** Trades without a policy: every deviation of the minimum trade is traded to its target. */
export const exactRule = (minTradeUsd: number, { feeBps }: CostLevel): Rule =>
  plannerRule({ weights, thresholdUsd: wad(minTradeUsd), feeBps })

export const ballastRule = (band: Band, { feeBps, gasUsd }: CostLevel): Rule => {
  const policy: PlanPolicy = {
    band,
    overrides: new Map(),
    tradeTo: undefined,
    minTradeUsd: one,
    minSweepUsd: one,
    minGasMultiple: 0n,
    isWhole: false,
    gas: new Map([[plannedChain, { operationUsd: 0n, swapUsd: wad(gasUsd) }]]),
    volatility: new Map(assets.map(({ volatility }, index) => [plannedAsset(index), wad(volatility)])),
    secondsToNextCheck: 3_600,
    reserveBps: 0
  }
  return plannerRule({
    weights,
    thresholdUsd: one,
    feeBps,
    policyAt: () => policy
  })
}
