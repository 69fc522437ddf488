/**
 * Follows one rule along a path of prices by the rules of the service's backtests, and gives its cost and error by the
 * year.
 */
import { assets, hours, yearHours } from "#bench/policies/paths.ts"
import { followRule, type Rule } from "#domain/backtest/followRule.ts"

/** What trading costs: a share of what is sold, and US dollars a swap. */
export interface CostLevel {
  readonly name: string
  readonly feeBps: number
  readonly gasUsd: number
}

export interface Outcome {
  /** Basis points of the portfolio, and multiples of it, a year. */
  readonly costBps: number
  readonly turnover: number
  readonly legs: number
  /** Root of the mean squared deviation of a weight, as it stands when each hour ends, before anything is traded. */
  readonly error: number
}

export const startUsd = 10_000

/** Rounds to a billionth: far below every threshold. */
export const wad = (value: number): bigint => BigInt(Math.round(value * 1e9)) * 1_000_000_000n
export const toNumber = (value: bigint): number => Number(value / 1_000_000_000n) / 1e9

const start = { weights: assets.map(({ weight }) => weight), valueUsd: wad(startUsd), prices: assets.map(() => wad(1)) }

export const simulate = (
  path: ReadonlyArray<ReadonlyArray<bigint>>,
  rule: Rule,
  { feeBps, gasUsd }: CostLevel
): Outcome => {
  const walk = followRule(rule, start, { feeBps, gasUsd: wad(gasUsd) })
  for (const prices of path) walk.advance(prices)
  const { costNano, error, trades, turnoverNano } = walk.outcome()
  const years = hours / yearHours
  return {
    costBps: (Number(costNano) / 1e9 / years) * 10_000,
    turnover: Number(turnoverNano) / 1e9 / years,
    legs: trades / years,
    error
  }
}
