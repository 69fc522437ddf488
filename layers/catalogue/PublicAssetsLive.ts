/** What the catalogue offers to the stream: shares and funds by their ticker, coins that CoinGecko has a name for. */
import { Effect, Layer } from "effect"
import type { CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { PublicAsset } from "#domain/stream/PublicAsset.ts"
import { PublicAssets } from "#domain/stream/PublicAssets.ts"
import { coinIds } from "#layers/catalogue/coinIds.ts"
import { content } from "#layers/catalogue/content.ts"

const toPublic = ({ kind, symbol }: CanonicalAsset): ReadonlyArray<PublicAsset> => {
  if (kind === "equity" || kind === "etf") return [{ assetClass: "equity", provider: "massive", symbol }]
  const coingeckoId = coinIds[symbol]
  return coingeckoId === undefined ? [] : [{ assetClass: "crypto", provider: "coingecko", symbol, coingeckoId }]
}

export const PublicAssetsLive = Layer.succeed(PublicAssets, {
  all: Effect.succeed(content.assets.flatMap(toPublic))
})
