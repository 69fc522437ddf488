/**
 * Says when a portfolio is due again before its period is over.
 *
 * After a run that could not read, quote or send everything: in 1 minute, then 5, 15, 30, 60 and so on. While a trade
 * is made in slices: so that the slices that are left are spread evenly over the time until the portfolio is due
 * without them, each at most an hour after the one before. Never later than the period. Each is drawn up to a fifth
 * beside that, so that portfolios which failed together do not come back together. Pure.
 */
const minute = 60_000
const firstMinutes = [1, 5, 15] as const
const spread = 0.2
/** Longest pause between slices, and between checks of a market that accepted slices and accepts none now. */
const maxSliceDelay = 60 * minute

const drawn = (delay: number, chance: number): number => Math.round(delay * (1 - spread + 2 * spread * chance))

/** Milliseconds; `retries` is how many such runs there were in a row before, `chance` is drawn from 0 up to 1. */
export const retryDelayMs = (retries: number, intervalMs: number, chance: number): number => {
  const further = retries - firstMinutes.length + 1
  const minutes = firstMinutes[retries] ?? firstMinutes.at(-1)! * 2 ** Math.min(further, 20)
  return Math.min(intervalMs, drawn(minutes * minute, chance))
}

/** The schedule of a portfolio as a delay needs it. */
interface DelayTerms {
  readonly retries: number
  readonly intervalMs: number
  readonly untilDueMs: number
  readonly chance: number
}

/** A trade of which a run made a part. */
export interface Slices {
  /** Further slices like the ones that this run made; zero where it made none, and earlier ones of the day did. */
  readonly left: number
}

/** Milliseconds; `untilDueMs` is how long it is until the portfolio is due without the slices. */
export const sliceDelayMs = ({ left }: Slices, { chance, intervalMs, retries, untilDueMs }: DelayTerms): number => {
  if (left === 0) return Math.min(maxSliceDelay, retryDelayMs(retries, intervalMs, chance))
  // One delay more than there are slices, so that the last slice comes before the period is over.
  const delay = Math.min(maxSliceDelay, Math.max(minute, untilDueMs / (left + 1)))
  return Math.round(delay * (1 - spread * chance))
}
