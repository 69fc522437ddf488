/** How much a price moves: from daily prices, as what a year of such days comes to. Pure. */
import * as Day from "#domain/Day.ts"

/** Fewer daily returns say nothing of a year. */
const minReturns = 20
const daysOfYear = 365
const wad = 1_000_000_000_000_000_000n
const precision = 1_000_000

/**
 * Standard deviation of a year's return (wad), from the prices of days that follow each other; undefined when too few are
 * known. A statistic, so in floating point, to six places.
 */
export const volatility = (prices: ReadonlyMap<Day.Day, bigint>): bigint | undefined => {
  const returns: Array<number> = []
  for (const [day, usd] of prices) {
    const before = prices.get(Day.add(day, -1))
    if (before !== undefined && before > 0n && usd > 0n) returns.push(Math.log(Number(usd) / Number(before)))
  }
  if (returns.length < minReturns) return undefined
  const mean = returns.reduce((sum, one) => sum + one, 0) / returns.length
  const variance = returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (returns.length - 1)
  const yearly = Math.sqrt(variance * daysOfYear)
  return Number.isFinite(yearly) ? (BigInt(Math.round(yearly * precision)) * wad) / BigInt(precision) : undefined
}
