/** Port: what there is to fetch from the providers of this deployment. */
import { Context, type Duration, type Effect } from "effect"
import type { ItemMalformed, MarketDataProvider, MarketDataUnavailable } from "#domain/marketData/Dataset.ts"

/** What a fetch brought: data that fits its dataset's schema, as JSON, and the items that had to be left out. */
export interface FetchedData {
  readonly data: unknown
  readonly problems: ReadonlyArray<ItemMalformed>
}

export interface MarketDataJob {
  readonly name: string
  readonly provider: MarketDataProvider
  readonly interval: Duration.Duration
  /** Lower comes first when not all that is due can be fetched in one round. */
  readonly priority: number
  readonly fetch: Effect.Effect<FetchedData, MarketDataUnavailable>
}

/**
 * What there is to fetch from providers.
 *
 * **When to use**
 *
 * Use in `MarketDataRefresh` alone.
 */
export class MarketDataJobs extends Context.Service<
  MarketDataJobs,
  {
    /** All jobs; each makes one request. They change with what the catalogue lists. */
    readonly all: Effect.Effect<ReadonlyArray<MarketDataJob>>
    /** Requests a minute that the refresh may make of a provider. */
    readonly perMinute: Readonly<Record<MarketDataProvider, number>>
  }
>()("ballast/domain/marketData/MarketDataJobs") {}
