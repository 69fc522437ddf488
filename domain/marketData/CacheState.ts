/** The age of an answer from the cache, so that no reader mistakes old data for new. */
import { DateTime, Schema } from "effect"
import { type Fetched, MarketDataProvider } from "#domain/marketData/Dataset.ts"

export const CacheState = Schema.Struct({
  /** ISO 8601; null while nothing was fetched. */
  fetchedAt: Schema.NullOr(Schema.String),
  /** Time from which the data has missed a refresh. */
  expiresAt: Schema.NullOr(Schema.String),
  ageSeconds: Schema.NullOr(Schema.Int),
  /** True past `expiresAt`, and where there is no data. */
  stale: Schema.Boolean,
  source: Schema.NullOr(MarketDataProvider)
})
export type CacheState = typeof CacheState.Type

const nothing: CacheState = { fetchedAt: null, expiresAt: null, ageSeconds: null, stale: true, source: null }

/**
 * Origin of data that was put together from several datasets: when its oldest was fetched, and when the first of them
 * expires.
 */
export interface Provenance {
  readonly fetchedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
  /** Fields as `CacheState` writes them. */
  readonly written: Pick<CacheState, "fetchedAt" | "expiresAt" | "source">
}

/** Undefined where no dataset is there. */
export const provenanceOf = (parts: ReadonlyArray<Fetched<unknown> | undefined>): Provenance | undefined => {
  const present = parts.filter((part) => part !== undefined)
  const [first, ...rest] = present
  if (first === undefined) return undefined
  const oldest = rest.reduce((a, b) => (b.fetchedAt.epochMilliseconds < a.fetchedAt.epochMilliseconds ? b : a), first)
  const expiresAt = DateTime.makeUnsafe(Math.min(...present.map((part) => part.expiresAt.epochMilliseconds)))
  return {
    fetchedAt: oldest.fetchedAt,
    expiresAt,
    written: {
      fetchedAt: DateTime.formatIso(oldest.fetchedAt),
      expiresAt: DateTime.formatIso(expiresAt),
      source: oldest.provider
    }
  }
}

/** The state at a moment, in UNIX milliseconds. */
export const cacheState = (provenance: Provenance | undefined, now: number): CacheState => {
  if (provenance === undefined) return nothing
  const { expiresAt, fetchedAt, written } = provenance
  return {
    fetchedAt: written.fetchedAt,
    expiresAt: written.expiresAt,
    ageSeconds: Math.max(0, Math.floor((now - fetchedAt.epochMilliseconds) / 1000)),
    stale: now >= expiresAt.epochMilliseconds,
    source: written.source
  }
}
