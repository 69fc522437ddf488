/** Seeded price paths: five assets, four of which move together, hour by hour over a quarter. */

export const hours = 90 * 24
export const yearHours = 8_760

/** A dollar coin and four volatile ones: standard deviation of a year's return, and target weight in basis points. */
export const assets = [
  { volatility: 0.02, weight: 2_000 },
  { volatility: 0.6, weight: 2_500 },
  { volatility: 0.75, weight: 2_500 },
  { volatility: 0.9, weight: 1_500 },
  { volatility: 0.9, weight: 1_500 }
] as const

/** Correlation of any two of them. */
const correlation = 0.6

/** Uniform in (0, 1); mulberry32. */
const uniform = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4_294_967_296
  }
}

/** Prices of each asset at the end of each hour, from 1 on; US dollars (wad), to a billionth. */
export const pathOf = (seed: number): ReadonlyArray<ReadonlyArray<bigint>> => {
  const draw = uniform(seed)
  const normal = () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw())
  const prices = assets.map(() => 1)
  return Array.from({ length: hours }, () => {
    const common = normal()
    for (const [index, { volatility }] of assets.entries()) {
      const shock = Math.sqrt(correlation) * common + Math.sqrt(1 - correlation) * normal()
      const step = volatility / Math.sqrt(yearHours)
      prices[index] = prices[index]! * Math.exp(step * shock - (step * step) / 2)
    }
    return prices.map((price) => BigInt(Math.round(price * 1e9)) * 1_000_000_000n)
  })
}
