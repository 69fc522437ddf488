/**
 * What one dollar of the last valuation has become, or that it is not known.
 *
 * It is not known when money that came in after the last valuation was traded before this one: its weight depends on
 * when it came. Then the return is counted anew; a number that was bent into range would stay in it for ever.
 */
import * as Decimal from "#domain/values/Decimal.ts"

/** All values are US dollars (wad). */
export interface Change {
  /** Worth at the last valuation. */
  readonly beforeUsd: bigint
  /** What that became by prices and our own trades, less what was sold beyond it. */
  readonly carriedOverUsd: bigint
  /** What was sold beyond it. */
  readonly oversoldUsd: bigint
  readonly isUnpriced: boolean
  /** Worth now, with what came in. */
  readonly valueUsd: bigint
}

/** Wad; null when there was nothing worth to speak of, and on a day on which the return is counted anew. */
export interface Growth {
  readonly growth: bigint | null
  readonly isRebased: boolean
}

/**
 * A millionth of a dollar, the smallest amount that the wire shows: what is worth less has no growth that could be
 * measured.
 */
const minUsd = Decimal.one / 1_000_000n

/**
 * Tokens that grow by themselves are sold by some units more than were there: up to a ten thousandth is no money that
 * came in.
 */
const toleratedShare = 10_000n

export const growthOf = ({ beforeUsd, carriedOverUsd, isUnpriced, oversoldUsd, valueUsd }: Change): Growth => {
  if (beforeUsd < minUsd) return { growth: null, isRebased: false }
  if (isUnpriced || oversoldUsd * toleratedShare > beforeUsd) return { growth: null, isRebased: true }
  const growth = ((carriedOverUsd + oversoldUsd) * Decimal.one) / (beforeUsd + oversoldUsd)
  // All of it was lost, and what is there now came in since.
  return growth === 0n && valueUsd > 0n ? { growth: null, isRebased: true } : { growth, isRebased: false }
}
