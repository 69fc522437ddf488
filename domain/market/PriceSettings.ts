/** How old prices may be, and how daily ones are filled in. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * How old a price may be.
 *
 * **When to use**
 *
 * Use where something is traded by a price, with `mayTradeOn`, or valued by one, with `isFresh`.
 */
export class PriceSettings extends Context.Service<
  PriceSettings,
  {
    /**
     * A price older than this many milliseconds is stale: nothing is traded on it and no valuation is made of it, and
     * positions say how old it is.
     */
    readonly maxAgeMs: number
  }
>()("ballast/domain/market/PriceSettings") {}

/**
 * How missing daily prices are filled in.
 *
 * **When to use**
 *
 * Use in `PriceRecorder` alone.
 */
export class PriceHistorySettings extends Context.Service<
  PriceHistorySettings,
  {
    /** How often, in milliseconds. */
    readonly intervalMs: number
    /** How many histories are fetched in that time. */
    readonly batch: number
  }
>()("ballast/domain/market/PriceHistorySettings") {}
