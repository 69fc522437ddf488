/** Which providers of market data this deployment has access to. Filled by src/Config.ts. */
import { Context } from "effect"

/**
 * Which providers of market data this deployment has.
 *
 * **When to use**
 *
 * Use to decide what is fetched and what is offered.
 */
export class MarketDataAccess extends Context.Service<
  MarketDataAccess,
  {
    /** `paid` has news besides. */
    readonly coinGecko: "none" | "demo" | "paid"
    readonly massive: boolean
    readonly coinbase: boolean
    readonly xstocks: boolean
  }
>()("ballast/domain/marketData/MarketDataAccess") {}
