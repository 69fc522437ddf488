import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { makeSnapshot } from "#domain/listing/AssetSnapshot.ts"
import { makeListings } from "#domain/listing/Listing.ts"
import { makeMarketView } from "#domain/listing/MarketView.ts"
import { ShownPrices } from "#domain/listing/ShownPrices.ts"
import { arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const listed = [baseUsdc, baseWeth, baseBtc].map(({ assetId, decimals, symbol }): ListedAsset => ({
  caipAssetId: assetId,
  symbol,
  name: symbol,
  decimals,
  issuer: null,
  unitModel: null,
  subject: null,
  categories: []
}))

it.effect("a shown price is that of the cache with its time, and none where the cache or its source has none", () =>
  Effect.gen(function* () {
    const listings = makeListings(
      listed,
      { coinIdOf: () => undefined, coinIds: [], homeOf: () => undefined },
      { version: "none", of: () => undefined }
    )
    const nothing = makeMarketView({ get: () => undefined, revision: () => 0, load: Effect.void }, [], 0)
    const said: Readonly<Record<string, object>> = {
      USDC: { priceUsd: "0.9998", updatedAt: "2026-03-02T09:30:00.000Z", stale: false },
      WETH: { priceUsd: "2500", updatedAt: "2026-03-02T09:00:00.000Z", stale: true },
      cbBTC: { priceUsd: "60000", updatedAt: "yesterday" }
    }
    const view = {
      ...nothing,
      marketDataOf: (listing: (typeof listings)[number]) => ({
        ...nothing.marketDataOf(listing),
        ...said[listing.asset.symbol]
      })
    }
    const snapshot = yield* makeSnapshot(listings, view)
    const index = Layer.succeed(AssetIndex, { current: () => snapshot, load: Effect.void })
    const { of } = yield* Effect.provide(ShownPrices, ShownPrices.layer.pipe(Layer.provide(index)))
    const at = (text: string) => DateTime.makeUnsafe(text)
    assert.deepStrictEqual(of(baseUsdc.assetId), {
      usd: "0.9998",
      asOf: at("2026-03-02T09:30:00.000Z"),
      isStale: false
    })
    assert.deepStrictEqual(of(baseWeth.assetId), { usd: "2500", asOf: at("2026-03-02T09:00:00.000Z"), isStale: true })
    assert.isUndefined(of(baseBtc.assetId))
    assert.isUndefined(of(arbWeth.assetId))
  })
)
