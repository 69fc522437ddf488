/** Access of a deployment to CoinGecko. */
import { Context, type Redacted } from "effect"

export class CoinGeckoConfig extends Context.Service<
  CoinGeckoConfig,
  {
    /** Base of the API with its version, without a slash at the end: `https://api.coingecko.com/api/v3`. */
    readonly baseUrl: string
    /** Null for access without a key, which CoinGecko limits by IP address. */
    readonly apiKey: Redacted.Redacted | null
    /** Decides the name of the header that contains the key. Each plan has its own host. */
    readonly plan: "demo" | "pro"
  }
>()("ballast/layers/market/CoinGeckoConfig") {}
