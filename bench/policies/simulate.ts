/** Follows one rule along a path of prices, and counts what it costs and how far it lets the portfolio drift. */
import { assets, hours, yearHours } from "#bench/policies/paths.ts"

/** Value moved from one asset to another, in US dollars at the prices of the hour. */
export interface Trade {
  readonly from: number
  readonly to: number
  readonly usd: number
}

/** What trading costs: a share of what is sold, and US dollars a swap. */
export interface CostLevel {
  readonly name: string
  readonly feeBps: number
  readonly gasUsd: number
}

/** Decides at the end of an hour; made anew for each path. */
export type Rule = (hour: number, values: ReadonlyArray<number>, prices: Float64Array) => ReadonlyArray<Trade>

export interface Outcome {
  /** Basis points of the portfolio, and multiples of it, a year. */
  readonly costBps: number
  readonly turnover: number
  readonly legs: number
  /** Root of the mean squared deviation of a weight, as it stands when each hour ends, before anything is traded. */
  readonly error: number
}

export const startUsd = 10_000

export const simulate = (path: ReadonlyArray<Float64Array>, rule: Rule, { feeBps, gasUsd }: CostLevel): Outcome => {
  const fee = feeBps / 10_000
  const amounts = assets.map(({ weight }) => (startUsd * weight) / 10_000)
  let cost = 0
  let turnover = 0
  let legs = 0
  let squares = 0
  for (const [hour, prices] of path.entries()) {
    const values = amounts.map((amount, index) => amount * prices[index]!)
    const total = values.reduce((sum, value) => sum + value, 0)
    for (const [index, { weight }] of assets.entries()) squares += (values[index]! / total - weight / 10_000) ** 2
    for (const { from, to, usd } of rule(hour, values, prices)) {
      amounts[from]! -= usd / prices[from]!
      // Gas is paid out of what is bought, so that every rule bears it alike.
      amounts[to]! += (usd * (1 - fee) - gasUsd) / prices[to]!
      cost += (usd * fee + gasUsd) / total
      turnover += usd / total
      legs += 1
    }
  }
  const years = hours / yearHours
  return {
    costBps: (cost * 10_000) / years,
    turnover: turnover / years,
    legs: legs / years,
    error: Math.sqrt(squares / (hours * assets.length))
  }
}
