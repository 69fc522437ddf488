/** CoinGecko's `GET /simple/token_price/{platform}`: prices of tokens by their contracts. */
import { Effect, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import type { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"

/** The parameters of each request for prices. */
export const priceParams = {
  vs_currencies: "usd",
  include_last_updated_at: "true",
  precision: "full"
} as const

/** Parameters that ask for the figures of the market too. */
export const marketParams = {
  ...priceParams,
  include_market_cap: "true",
  include_24hr_vol: "true",
  include_24hr_change: "true"
} as const

/** EVM addresses in any case are one address; a mint of Solana is not. */
const keyOf = (address: string) => (address.startsWith("0x") ? address.toLowerCase() : address)

/** Returns CoinGecko's entry of a contract, not decoded; undefined where there is none. */
export const makeTokenPrices = (client: CoinGeckoClient["Service"], platforms: CoinGeckoPlatforms["Service"]) =>
  Effect.fn("CoinGecko.tokenPrices")(function* (
    chainId: ChainId,
    addresses: ReadonlyArray<string>,
    params: typeof priceParams | typeof marketParams
  ) {
    const platform = yield* platforms.of(chainId)
    if (platform === undefined) return () => undefined
    const rows = yield* client.get({
      path: `/simple/token_price/${platform}`,
      params: { contract_addresses: addresses.map(keyOf).join(","), ...params },
      schema: Schema.Record(Schema.String, Schema.Unknown)
    })
    const byAddress = new Map(Object.entries(rows).map(([address, row]) => [keyOf(address), row]))
    return (address: string): unknown => byAddress.get(keyOf(address))
  })
