/** The variables of the shared cache of market data. */
import { Effect, Schema } from "effect"
import type { CountryHeader } from "#domain/listing/CountryHeader.ts"
import type { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import type { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import type { MarketDataConfig } from "#layers/market/MarketDataJobsLive.ts"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, type Setting, withDefault } from "#src/config/Setting.ts"

const perMinute = Kind.integer(1, 100_000, "20")

export const marketData: Setting<MarketDataConfig["Service"]> = Effect.map(
  all({
    massiveUrl: withDefault("MASSIVE_REST_URL", Kind.httpUrl("https://api.massive.com"), "https://api.massive.com"),
    massiveKey: optional(
      "MASSIVE_API_KEY",
      Kind.secret(/^[!-~]{1,200}$/, "a key without spaces", "the key of the plan")
    ),
    coinbaseUrl: optional("COINBASE_URL", Kind.httpUrl("https://api.coinbase.com")),
    xStocksUrl: optional("XSTOCKS_URL", Kind.httpUrl("https://api.xstocks.fi/api/v2")),
    coinGeckoPerMinute: withDefault("COINGECKO_REFRESH_PER_MINUTE", perMinute, 20),
    massivePerMinute: withDefault("MASSIVE_REFRESH_PER_MINUTE", perMinute, 60)
  }),
  ({ coinGeckoPerMinute, coinbaseUrl, massiveKey, massivePerMinute, massiveUrl, xStocksUrl }) => ({
    massive: massiveKey === null ? null : { baseUrl: massiveUrl, apiKey: massiveKey },
    coinbaseUrl,
    xStocksUrl,
    perMinute: { coingecko: coinGeckoPerMinute, massive: massivePerMinute, coinbase: 10, xstocks: 10 }
  })
)

const headerName = Kind.kind(
  Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,64}$/u)),
  "the name of a header in lower case",
  "cf-ipcountry"
)

/** Only for deployments behind an edge that sets these headers itself and removes what a client sends. */
export const countryHeaders: Setting<CountryHeader["Service"]> = all({
  country: optional("COUNTRY_HEADER", headerName),
  region: optional("REGION_HEADER", headerName)
})

/**
 * CoinGecko answers some requests without a key, which is too little to keep a cache full: it counts with a key or an
 * own URL.
 */
export const accessOf = (
  { coinbaseUrl, massive, xStocksUrl }: MarketDataConfig["Service"],
  { apiKey, plan }: CoinGeckoConfig["Service"],
  hasOwnUrl: boolean
): MarketDataAccess["Service"] => ({
  coinGecko: apiKey === null && !hasOwnUrl ? "none" : plan === "pro" ? "paid" : "demo",
  massive: massive !== null,
  coinbase: coinbaseUrl !== null,
  xstocks: xStocksUrl !== null
})
