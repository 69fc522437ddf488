/** A rebalance policy as the planner applies it, with what was measured for the portfolio. Pure. */
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"

/** Days of prices from which volatility is computed. */
export const lookbackDays = 90

/** Part of the slippage limit that is set aside as a cost, as a divisor. */
const reserveParts = 10
const bps = 10_000n

export interface PolicyFacts extends Pick<PlanPolicy, "gas" | "volatility" | "secondsToNextCheck"> {
  /** Value of the portfolio; its trades of the last seven days cost `spentUsd`. US dollars (wad). */
  readonly valueUsd: bigint
  readonly spentUsd: bigint
  readonly slippageBps: number
  readonly minTradeUsd: bigint
}

/** The lesser of what a run may cost and what is left of the week. */
const maxCostOf = (
  { maxCostBps = {} }: RebalancePolicy,
  { spentUsd, valueUsd }: PolicyFacts
): Pick<PlanPolicy, "maxCostUsd"> => {
  const share = (limit: number) => (valueUsd * BigInt(limit)) / bps
  const limits: Array<bigint> = []
  if (maxCostBps.run !== undefined) limits.push(share(maxCostBps.run))
  if (maxCostBps.week !== undefined) limits.push(share(maxCostBps.week) - spentUsd)
  if (limits.length === 0) return {}
  const least = limits.reduce((most, limit) => (limit < most ? limit : most))
  return { maxCostUsd: least > 0n ? least : 0n }
}

export const planPolicyOf = (policy: RebalancePolicy, facts: PolicyFacts): PlanPolicy => ({
  band: policy.band,
  overrides: new Map(policy.overrides?.map(({ assetId, band }) => [assetId, band])),
  tradeTo: policy.tradeTo,
  minTradeUsd: policy.minTrade?.usd ?? 0n,
  minSweepUsd: facts.minTradeUsd,
  minGasMultiple: BigInt(policy.minTrade?.gasMultiple ?? 0),
  isWhole: policy.cashFlow === "whole",
  ...maxCostOf(policy, facts),
  gas: facts.gas,
  volatility: facts.volatility,
  secondsToNextCheck: facts.secondsToNextCheck,
  reserveBps: Math.floor(facts.slippageBps / reserveParts)
})
