/** Port: the providers that this deployment has keys for. */
import { Context } from "effect"
import type { MarketFeed } from "#domain/stream/MarketFeed.ts"

export class MarketFeeds extends Context.Service<MarketFeeds, ReadonlyArray<MarketFeed>>()(
  "ballast/domain/stream/MarketFeeds"
) {}
