/**
 * When a portfolio is due again after a run that could not read, quote or send everything: in 1 minute, then 5, 15, 30,
 * 60 and so on, never later than its period. Each is drawn a fifth around that, so that portfolios which failed
 * together do not come back together. Pure.
 */
const minute = 60_000
const firstMinutes = [1, 5, 15] as const
const spread = 0.2

/** Milliseconds; `retries` is how many such runs there were in a row before, `chance` is drawn from 0 up to 1. */
export const retryDelayMs = (retries: number, intervalMs: number, chance: number): number => {
  const further = retries - firstMinutes.length + 1
  const minutes = firstMinutes[retries] ?? firstMinutes.at(-1)! * 2 ** Math.min(further, 20)
  return Math.min(intervalMs, Math.round(minutes * minute * (1 - spread + 2 * spread * chance)))
}
