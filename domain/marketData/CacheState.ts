/** What an answer from the cache says of its own age, so that no reader takes old data for new. */
import { DateTime, Schema } from "effect"
import { type Fetched, MarketDataProvider } from "#domain/marketData/Dataset.ts"

export const CacheState = Schema.Struct({
  /** ISO 8601; null while nothing was fetched. */
  fetchedAt: Schema.NullOr(Schema.String),
  /** From then on the data has missed a refresh. */
  expiresAt: Schema.NullOr(Schema.String),
  ageSeconds: Schema.NullOr(Schema.Int),
  /** True past `expiresAt`, and where there is no data. */
  stale: Schema.Boolean,
  source: Schema.NullOr(MarketDataProvider)
})
export type CacheState = typeof CacheState.Type

const nothing: CacheState = { fetchedAt: null, expiresAt: null, ageSeconds: null, stale: true, source: null }

/** The state of data that was put together from several datasets: as old as the oldest. */
export const cacheState = (parts: ReadonlyArray<Fetched<unknown> | undefined>, now: number): CacheState => {
  const present = parts.filter((part) => part !== undefined)
  const [first, ...rest] = present
  if (first === undefined) return nothing
  const oldest = rest.reduce((a, b) => (b.fetchedAt.epochMilliseconds < a.fetchedAt.epochMilliseconds ? b : a), first)
  const soonest = Math.min(...present.map(({ expiresAt }) => expiresAt.epochMilliseconds))
  return {
    fetchedAt: DateTime.formatIso(oldest.fetchedAt),
    expiresAt: DateTime.formatIso(DateTime.makeUnsafe(soonest)),
    ageSeconds: Math.max(0, Math.floor((now - oldest.fetchedAt.epochMilliseconds) / 1000)),
    stale: now >= soonest,
    source: oldest.provider
  }
}
