/**
 * How wide the band around a target is, and how far from the target an asset outside of it is traded to.
 *
 * A wider band trades less and drifts more. A weight that leaves +-U is traded to +-L. It then stays within for
 * (U^2 - L^2) / (w^2 (1-w)^2 sigma^2) years, with a mean square of (U^2 + L^2) / 6, so with a cost `f` of what is
 * traded, `K` of a trade whatever its size (a share of the portfolio) and risk aversion `g`, the loss of a year is
 *
 *     sigma^2 (g (U^2 + L^2) / 12 + w^2 (1-w)^2 (K + f (U - L)) / (U^2 - L^2))
 *
 * which is lowest where, with A = 12 K w^2 (1-w)^2 / g and B = 12 f w^2 (1-w)^2 / g,
 *
 *     (U - L)^3 (U + L) = A   and   (U + L)^3 = A / (U - L) + B,   or with L = 0:   U^4 = A + B U / 2.
 *
 * Without fixed cost that is the half-width (3 f w^2 (1-w)^2 / (2 g))^(1/3), traded to its edge; without proportional
 * cost (12 K w^2 (1-w)^2 / g)^(1/4), traded to the target. Volatility cancels out: a wilder asset drifts more, and its
 * drift costs more.
 */
import { type Band, defaultRiskAversion, type TradeTo } from "#domain/mandate/RebalancePolicy.ts"

/** Half-widths are shares of the portfolio in billionths. */
export const nano = 1_000_000_000n

const bps = 10_000n
const billionth = 1_000_000_000n

/** Bound below which an estimate in floating point is off a root by one at most. */
const closelyEstimated = 2n ** 130n

/**
 * The greatest integer whose power is at most `value`, which is not negative. Exact, from an estimate in floating
 * point.
 */
export const root = (value: bigint, degree: 3n | 4n): bigint => {
  if (value < 2n) return value
  const estimate = BigInt(Math.round(Number(value) ** (1 / Number(degree))))
  if (value < closelyEstimated) {
    if (estimate ** degree > value) return estimate - 1n
    return (estimate + 1n) ** degree > value ? estimate : estimate + 1n
  }
  const lower = (found: bigint): bigint => ((degree - 1n) * found + value / found ** (degree - 1n)) / degree
  // Newton's method comes down to the root from wherever it stands after one step.
  let found = lower(estimate)
  for (;;) {
    const next = lower(found)
    if (next >= found) return found
    found = next
  }
}

/** What decides a width. */
export interface BandTerms {
  /** Target, basis points of the portfolio, above zero. */
  readonly weight: bigint
  /** Cost of a trade in billionths of what is sold. */
  readonly costNano: bigint
  /** Cost of a trade whatever its size, as a share of the portfolio in billionths. */
  readonly fixedCostNano: bigint
}

export interface BandWidth {
  /** How far an asset may be from its target, and how far from it is traded to; billionths of the portfolio. */
  readonly half: bigint
  readonly goal: bigint
}

const goalOf = (half: bigint, tradeTo: TradeTo): bigint =>
  tradeTo === "edge" ? half : tradeTo === "half" ? half / 2n : 0n

/** (w (1-w))^2 in (10^8)^2. */
const spread = (weight: bigint): bigint => (weight * (bps - weight)) ** 2n

/** Rounds that the two equations need at most; each comes closer by a factor of at least three. */
const maxRounds = 24

/** U and L of both costs. */
const bothCosts = (fixed: bigint, proportional: bigint): BandWidth => {
  let sum = 2n * root(fixed, 4n) + root(proportional, 3n)
  let step = root(fixed / (sum === 0n ? 1n : sum), 3n)
  for (let round = 0; step > 0n && step < sum && round < maxRounds; round += 1) {
    const next = root(fixed / step + proportional, 3n)
    const isFound = next === sum
    sum = next
    step = root(fixed / sum, 3n)
    if (isFound) break
  }
  if (step === 0n) return { half: root(proportional / 8n, 3n), goal: root(proportional / 8n, 3n) }
  if (step < sum) return { half: (sum + step) / 2n, goal: (sum - step) / 2n }
  let half = root(fixed, 4n)
  for (let round = 0; round < maxRounds; round += 1) {
    const next = root(fixed + (proportional * half) / 2n, 4n)
    if (next === half) break
    half = next
  }
  return { half, goal: 0n }
}

const automatic = (
  { costNano, fixedCostNano, weight }: BandTerms,
  riskAversion: bigint,
  tradeTo: TradeTo | undefined
): BandWidth => {
  const scale = 12n * spread(weight) * nano ** 3n
  const fixed = (fixedCostNano * scale) / (riskAversion * bps ** 4n)
  const proportional = (costNano * scale) / (riskAversion * billionth * bps ** 4n)
  const width = bothCosts(fixed, proportional)
  return tradeTo === undefined ? width : { half: width.half, goal: goalOf(width.half, tradeTo) }
}

/** The band of an asset with a target. */
export const bandWidth = (
  { kind, riskAversion = defaultRiskAversion, width = 0 }: Band,
  terms: BandTerms,
  tradeTo: TradeTo | undefined
): BandWidth => {
  if (kind === "auto") return automatic(terms, BigInt(riskAversion), tradeTo)
  const half = kind === "absolute" ? (BigInt(width) * nano) / bps : (BigInt(width) * terms.weight * nano) / bps ** 2n
  return { half, goal: goalOf(half, tradeTo ?? "edge") }
}
