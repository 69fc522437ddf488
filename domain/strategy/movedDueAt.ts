/**
 * Computes when a portfolio is due after its cadence changed. The cycle that it is in began when it was last checked;
 * the new interval counts from there, to the first due time that is still to come. So a shorter cadence brings the due
 * time forward, a longer one puts it off, and a change that is taken back moves it back. Up to a tenth of an interval,
 * at most an hour, is added by chance, so that portfolios which began together do not stay together. Pure.
 */
const spread = 0.1
const maxSpreadMs = 3_600_000

/** Last check of a portfolio, and its interval from now on. */
export interface Cycle {
  /** Milliseconds since 1970. */
  readonly began: number
  readonly intervalMs: number
}

/** Milliseconds since 1970, as `now`; `chance` is drawn from 0 up to 1. */
export const movedDueAt = ({ began, intervalMs }: Cycle, now: number, chance: number): number => {
  const periods = Math.max(1, Math.floor((now - began) / intervalMs) + 1)
  return began + periods * intervalMs + Math.floor(chance * Math.min(maxSpreadMs, spread * intervalMs))
}
