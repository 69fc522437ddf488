/**
 * Whether a set of trades is worth what it costs.
 *
 * Drift costs half of g sigma^2 x^2 V a year (Markowitz): `g` the risk aversion, `sigma` the volatility, `x` how far an
 * asset of a portfolio worth `V` is from its target. What trades remove of it counts until the next check, or for as
 * long as the drift would have lasted without a trade, whichever is longer: at the edge of the band that time is the
 * one at which a trade pays for its own fee exactly, so the width of a fixed band implies a risk aversion.
 */
import * as Decimal from "#domain/values/Decimal.ts"
import { defaultRiskAversion } from "#domain/mandate/RebalancePolicy.ts"
import { type BandWidth, nano } from "#domain/planning/bands/bandWidth.ts"
import type { Drift } from "#domain/planning/bands/drift.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { type ChainGas, defaultVolatility, type PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { billion, type TradeCosts } from "#domain/planning/bands/tradeCost.ts"

const yearSeconds = 31_536_000n
const bps = 10_000n
/** A band of a few basis points would imply any figure. */
const maxImplied = 10_000n

/** What the trades of a chain cost and what they remove. US dollars (wad). */
export interface Worth {
  readonly benefitUsd: bigint
  /** Fees, price impact, slippage reserve and gas. */
  readonly costUsd: bigint
  readonly gasUsd: bigint
  /** What gas costs is not known: it is in none of the figures. */
  readonly isGasUnknown?: boolean
}

/** What legs cost: each what its pair does and the reserve, and the gas of one operation with a swap for each. */
export const costOf = (
  legs: ReadonlyArray<Pick<Leg, "sell" | "buy" | "valueUsd">>,
  costs: TradeCosts,
  { operationUsd, swapUsd }: ChainGas
): Pick<Worth, "costUsd" | "gasUsd"> => {
  if (legs.length === 0) return { costUsd: 0n, gasUsd: 0n }
  const gasUsd = operationUsd + swapUsd * BigInt(legs.length)
  const tradedUsd = legs.reduce(
    (sum, { buy, sell, valueUsd }) => sum + (valueUsd * (costs.ofPair(sell, buy) + costs.reserve)) / billion,
    0n
  )
  return { costUsd: tradedUsd + gasUsd, gasUsd }
}

/** The risk aversion (wad) for which a fixed band would be the right one; it is capped for a very narrow band. */
const impliedAversion = (width: BandWidth, weight: bigint, costNano: bigint): bigint => {
  const spread = (weight * (bps - weight)) ** 2n
  const [part, parts] = width.goal === width.half ? [3n, 2n] : width.goal === 0n ? [6n, 1n] : [3n, 1n]
  const implied =
    (part * costNano * spread * nano ** 3n * Decimal.one) / (parts * width.half ** 3n * billion * bps ** 4n)
  const most = maxImplied * Decimal.one
  return implied < most ? implied : most
}

const aversionOf = ({ position, width }: Drift, policy: PlanPolicy, costNano: bigint): bigint => {
  const { kind, riskAversion = defaultRiskAversion } = policy.overrides.get(position.assetId) ?? policy.band
  return kind === "auto" || width.half === 0n
    ? BigInt(riskAversion) * Decimal.one
    : impliedAversion(width, position.weight, costNano)
}

/** g sigma^2 t of an asset (wad): what one unit of half its squared drift costs over the time that counts. */
const weightOf = (drift: Drift, fixedCostNano: bigint, { costs, policy }: PolicyTerms): bigint => {
  const { position, width } = drift
  const volatility = policy.volatility.get(position.assetId) ?? defaultVolatility
  const costNano = costs.ofBand(position.assetId)
  const yearly = (aversionOf(drift, policy, costNano) * volatility * volatility) / (Decimal.one * Decimal.one)
  // What is no target, or has no band, is off by its whole value until it is traded.
  if (width.half === 0n) return yearly
  const untilCheck = (yearly * BigInt(policy.secondsToNextCheck)) / yearSeconds
  const across = width.half ** 2n - width.goal ** 2n
  const feeNano = (costNano * nano) / billion
  const persisting =
    across === 0n
      ? (feeNano * Decimal.one) / width.half
      : (2n * (feeNano * (width.half - width.goal) + fixedCostNano * nano) * Decimal.one) / across
  return untilCheck > persisting ? untilCheck : persisting
}

interface Change {
  readonly drifts: ReadonlyArray<Drift>
  readonly result: ReadonlyArray<PlanPosition>
  /** What the portfolio is worth, US dollars (wad). */
  readonly portfolioUsd: bigint
}

/** What going from `drifts` to `result`, in the same order, removes of the cost of drift of a portfolio. */
export const benefitOf = ({ drifts, portfolioUsd, result }: Change, terms: PolicyTerms): bigint => {
  const { gas, policy } = terms
  if (portfolioUsd <= 0n) return 0n
  const fixedNano = ((gas.operationUsd + gas.swapUsd) * nano) / portfolioUsd
  let sum = 0n
  for (const [index, drift] of drifts.entries()) {
    const before = drift.excessUsd
    const after = before + result[index]!.valueUsd - drift.position.valueUsd
    if (before === after) continue
    const { goal, half } = drift.width
    const isFixed = goal < half && (policy.overrides.get(drift.position.assetId) ?? policy.band).kind === "auto"
    const weight = weightOf(drift, isFixed ? fixedNano : 0n, terms)
    sum += (weight * (before * before - after * after)) / (2n * portfolioUsd * Decimal.one)
  }
  return sum
}
