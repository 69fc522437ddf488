import { DateTime } from "effect"
import type { TradableAsset } from "#domain/listing/TradableAssets.ts"

export const assetView = ({ assetId, chainId, decimals, kind, name, notTradable, price, symbol }: TradableAsset) => ({
  assetId,
  chainId,
  symbol,
  name,
  decimals,
  kind,
  tradability: {
    isTradable: notTradable === null,
    code: notTradable?.code ?? null,
    reason: notTradable?.reason ?? null
  },
  price: price && { usd: price.usd, asOf: DateTime.formatIso(price.asOf), ageSeconds: price.ageSeconds }
})
