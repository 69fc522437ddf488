/** Port: what an asset cost on past days. */
import { Context, type Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type * as Day from "#domain/values/Day.ts"
import type { PricesUnavailable } from "#domain/market/Prices.ts"

/** The price at the beginning of a UTC day, or the first that is known of it; US dollars (wad) for one whole token. */
export interface DayPrice {
  readonly day: Day.Day
  readonly usd: bigint
}

/**
 * Prices of an asset on past days, by a provider.
 *
 * **When to use**
 *
 * Use in `PriceRecorder` alone, since each call is a request to a provider. Recorded days are read from
 * `DailyPriceStore`.
 */
export class PriceHistory extends Context.Service<
  PriceHistory,
  {
    /**
     * The last `days` days up to today, oldest first, each at most once; empty when the source does not list the asset.
     */
    readonly daily: (assetId: AssetId, days: number) => Effect.Effect<ReadonlyArray<DayPrice>, PricesUnavailable>
  }
>()("ballast/domain/market/PriceHistory") {}
