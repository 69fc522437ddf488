/** Port: the providers that this deployment has keys for. */
import { Context } from "effect"
import type { MarketFeed } from "#domain/stream/MarketFeed.ts"

/**
 * Providers of market events.
 *
 * **When to use**
 *
 * Use in the market-data worker alone.
 */
export class MarketFeeds extends Context.Service<MarketFeeds, ReadonlyArray<MarketFeed>>()(
  "ballast/domain/stream/MarketFeeds"
) {}
