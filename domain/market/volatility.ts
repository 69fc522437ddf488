/** How much a price moves: from daily prices, as what a year of such days comes to. Pure. */
import * as Day from "#domain/values/Day.ts"

/** Fewer daily returns say nothing of a year. */
const minReturns = 20
const daysOfYear = 365
const wad = 1_000_000_000_000_000_000n
const precision = 1_000_000

/** The logarithmic return of each day that follows a day with a price. */
export const dailyReturns = (prices: ReadonlyMap<Day.Day, bigint>): ReadonlyMap<Day.Day, number> => {
  const returns = new Map<Day.Day, number>()
  for (const [day, usd] of prices) {
    const before = prices.get(Day.add(day, -1))
    if (before !== undefined && before > 0n && usd > 0n) returns.set(day, Math.log(Number(usd) / Number(before)))
  }
  return returns
}

/**
 * Standard deviation of a year's return (wad), from daily ones; undefined when too few are known. A statistic, so in
 * floating point, to six decimals.
 */
export const yearlyDeviation = (returns: ReadonlyArray<number>): bigint | undefined => {
  if (returns.length < minReturns) return undefined
  const mean = returns.reduce((sum, one) => sum + one, 0) / returns.length
  const variance = returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (returns.length - 1)
  const yearly = Math.sqrt(variance * daysOfYear)
  return Number.isFinite(yearly) ? (BigInt(Math.round(yearly * precision)) * wad) / BigInt(precision) : undefined
}

/** Computes the volatility from the prices of days that follow each other. */
export const volatility = (prices: ReadonlyMap<Day.Day, bigint>): bigint | undefined =>
  yearlyDeviation([...dailyReturns(prices).values()])
