import { Effect } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import type { Jurisdiction } from "#domain/listing/restrictions.ts"
import { AssetProcedures, defaults } from "#rpc/Assets.ts"

type Sent = Readonly<Record<string, string | undefined>>

const countryShape = /^[A-Z]{2}$/u
/** What Cloudflare and others send for an unknown country, and for Tor. */
const noCountry = new Set(["XX", "T1"])
const regionShape = /^[A-Z0-9]{1,3}$/u

const firstOf = <P extends { readonly limit?: number; readonly cursor?: number }>({ cursor = 0, limit }: P) => ({
  cursor,
  limit: limit ?? defaults.pageLimit
})

export const AssetsLive = AssetProcedures.toLayer(
  Effect.gen(function* () {
    const browsing = yield* AssetBrowsing
    const search = yield* AssetSearch
    const profiles = yield* AssetProfiles
    const header = yield* CountryHeader

    const valueOf = (headers: Sent, name: string | null) =>
      name === null ? undefined : headers[name]?.trim().toUpperCase()

    const jurisdictionOf = (headers: Sent, manual: string | undefined): Jurisdiction => {
      const country = valueOf(headers, header.country)
      const isKnown = country !== undefined && countryShape.test(country) && !noCountry.has(country)
      const region = valueOf(headers, header.region)
      return {
        countryCode: isKnown ? country : null,
        regionCode: isKnown && region !== undefined && regionShape.test(region) ? `${country}-${region}` : null,
        manualCountryCode: manual?.toUpperCase() ?? null
      }
    }

    const query = <P extends { readonly limit?: number }>(payload: P) => ({
      ...payload,
      limit: payload.limit ?? defaults.searchLimit
    })

    return {
      "assets.browseAssets": (payload) =>
        Effect.sync(() => browsing.browseAssets(payload, payload.excludeAssetIds ?? [], firstOf(payload))),
      "assets.getStockBrowseSnapshot": (payload) => Effect.sync(() => browsing.stockSnapshot(payload)),
      "assets.browseStocks": (payload) =>
        Effect.sync(() => browsing.browseStocks(payload, payload.filters ?? {}, firstOf(payload))),
      "assets.browseStocksForSelection": (payload) =>
        Effect.sync(() => browsing.browseStocksForSelection(payload, payload, firstOf(payload))),
      "assets.searchForCommandPalette": (payload, { headers }) =>
        Effect.sync(() => search.forCommandPalette(query(payload), jurisdictionOf(headers, payload.manualCountryCode))),
      "assets.searchForTokens": (payload, { headers }) =>
        Effect.sync(() => search.forTokens(query(payload), jurisdictionOf(headers, payload.manualCountryCode))),
      "assets.getStockHighlights": () => Effect.sync(() => browsing.stockHighlights()),
      "assets.getAssetDetails": ({ assetId }) => profiles.details(assetId),
      "assets.getAssetOverlaysBatch": ({ assetIds }) => Effect.sync(() => profiles.overlays(assetIds)),
      "assets.getTimeSeries": ({ assetId, range = "1d" }) => profiles.timeSeries(assetId, range)
    }
  })
).pipe(buildWith(AssetBrowsing, AssetSearch, AssetProfiles, CountryHeader))
