/**
 * Contract: listed assets and tokenized shares, without authentication. Source: interface "Public asset procedures";
 * shapes Q and R; docs/decisions/0122.
 */
import { Schema } from "effect"
import { RpcGroup } from "effect/rpc"
import { ChainId } from "#domain/values/Caip.ts"
import { NotFound } from "#domain/errors/Errors.ts"
import { AssetKey } from "#domain/listing/AssetKey.ts"
import * as Models from "#domain/listing/AssetModels.ts"
import { candleRanges } from "#domain/listing/AssetProfiles.ts"
import { Restriction, RestrictionContext } from "#domain/listing/restrictions.ts"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { CacheState } from "#domain/marketData/CacheState.ts"
import { Candle } from "#domain/marketData/coinDatasets.ts"
import { encodedOnce } from "#rpc/encodedOnce.ts"
import { publicRead } from "#rpc/publicProcedure.ts"

export const defaults = { pageLimit: 24, searchLimit: 20 } as const

const slugForm = { expected: "a slug of small letters, digits, dots, hyphens and _" }
const Slug = Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,63}$/u, slugForm)).annotate({
  examples: ["technology"]
})
const chains = Schema.optionalKey(Schema.Array(ChainId).check(Schema.isMaxLength(50)))
const Tags = Schema.optionalKey(Schema.Array(Slug).check(Schema.isMaxLength(50)))
const assetExample = { examples: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:8453"] }
const SomeId = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)).annotate(assetExample)

const filter = {
  issuerSlug: Schema.optionalKey(Slug),
  exposureCategory: Schema.optionalKey(Slug),
  exposureSlug: Schema.optionalKey(Slug)
}
const page = {
  limit: Schema.optionalKey(integer(1, 100, "Items a page")),
  cursor: Schema.optionalKey(integer(0, 1_000_000_000, "`nextCursor` of the page before"))
}

interface Filtered {
  readonly issuerSlug?: string
  readonly exposureCategory?: string
  readonly exposureSlug?: string
}

const hasFilter = Schema.makeFilter<Filtered>(
  ({ exposureCategory, exposureSlug, issuerSlug }) =>
    issuerSlug !== undefined ||
    exposureCategory !== undefined ||
    exposureSlug !== undefined ||
    "Expected at least one of issuerSlug, exposureCategory, exposureSlug"
)

const restrictions = {
  /** The restricted ones of the items by id. */
  restrictedAssetsMap: Schema.Record(Schema.String, Restriction),
  restrictionContext: RestrictionContext
}
const CountryCode = Schema.String.check(
  Schema.isPattern(/^[A-Za-z]{2}$/u, { expected: "a country of two letters, ISO 3166-1" })
).annotate({ examples: ["DE"] })
const search = {
  q: Schema.String.check(Schema.isBetweenLength(1, 100, { expected: "1 to 100 characters" })).annotate({
    examples: ["AAPL"]
  }),
  chainFilter: chains,
  limit: Schema.optionalKey(integer(1, 50, "Rows")),
  manualCountryCode: Schema.optionalKey(CountryCode)
}
/** Rows of the index, which are the same until it is made anew. */
const Item = encodedOnce(Models.AssetItem)
const Stock = encodedOnce(Models.StockItem)
const Row = encodedOnce(Models.SearchRow)
const Found = Schema.Struct({ items: Schema.Array(Row), ...restrictions })

const TagCounts = Schema.Array(Schema.Struct({ tag: Schema.String, count: Schema.Int }))
const NextCursor = Schema.NullOr(Schema.Int)
const Key = Schema.toType(AssetKey)

export const AssetProcedures = RpcGroup.make(
  publicRead("assets.browseAssets", {
    payload: Schema.Struct({
      ...filter,
      ...page,
      excludeAssetIds: Schema.optionalKey(Schema.Array(SomeId).check(Schema.isMaxLength(500)))
    }).check(hasFilter),
    success: Schema.Struct({ items: Schema.Array(Item), nextCursor: NextCursor })
  }),
  publicRead("assets.getStockBrowseSnapshot", {
    payload: Schema.Struct(filter).check(hasFilter),
    success: Schema.Struct({
      items: Schema.Array(Stock),
      totalCount: Schema.Int,
      generatedAt: Schema.String
    })
  }),
  publicRead("assets.browseStocks", {
    payload: Schema.Struct({
      ...filter,
      ...page,
      filters: Schema.optionalKey(Schema.Struct({ type: Tags, sector: Tags, style: Tags, cap: Tags, region: Tags }))
    }).check(hasFilter),
    success: Schema.Struct({
      items: Schema.Array(Stock),
      nextCursor: NextCursor,
      totalCount: Schema.Int,
      previewItems: Schema.Array(Stock),
      availableTags: Schema.Struct({
        type: TagCounts,
        sector: TagCounts,
        style: TagCounts,
        cap: TagCounts,
        region: TagCounts
      })
    })
  }),
  publicRead("assets.browseStocksForSelection", {
    payload: Schema.Struct({
      ...filter,
      ...page,
      search: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(100)).annotate({ examples: ["AAPL"] })),
      chainId: Schema.optionalKey(ChainId)
    }).check(hasFilter),
    success: Schema.Struct({
      items: Schema.Array(Stock),
      nextCursor: NextCursor,
      totalCount: Schema.Int,
      availableChainIds: Schema.Array(Schema.Int)
    })
  }),
  publicRead("assets.searchForCommandPalette", { payload: { ...search, stockChainFilter: chains }, success: Found }),
  publicRead("assets.searchForTokens", { payload: search, success: Found }),
  publicRead("assets.getStockHighlights", {
    success: Schema.Struct({
      featuredItems: Schema.Array(Stock),
      tickerItems: Schema.Array(Stock)
    })
  }),
  publicRead("assets.getAssetDetails", {
    payload: { assetId: AssetKey },
    success: Schema.Struct({
      assetId: Key,
      marketData: Schema.Struct({ ...Models.MarketFigures.fields, trading: Schema.NullOr(Models.TradingOverlay) }),
      metadata: Models.AssetMetadata,
      taxonomy: Models.Taxonomy,
      equityDetails: Schema.NullOr(Models.EquityDetails),
      isVerifiedByGlider: Schema.Boolean
    }),
    error: NotFound
  }),
  publicRead("assets.getAssetOverlaysBatch", {
    payload: {
      assetIds: Schema.Array(Schema.String.check(Schema.isMaxLength(200)).annotate(assetExample)).check(
        Schema.isMaxLength(200)
      )
    },
    success: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          assetId: Schema.String,
          taxonomy: Schema.NullOr(Models.Taxonomy),
          equityDetails: Schema.NullOr(Models.EquityDetails),
          providerExtensions: Schema.NullOr(Models.ProviderExtensions)
        })
      )
    })
  }),
  publicRead("assets.getTimeSeries", {
    payload: { assetId: AssetKey, range: Schema.optionalKey(Schema.Literals(candleRanges)) },
    success: Schema.Struct({
      assetId: Key,
      range: Schema.Literals(candleRanges),
      configured: Schema.Boolean,
      basis: Schema.NullOr(Schema.Literals(["share", "coin"])),
      candles: Schema.Array(Candle),
      cache: CacheState
    }),
    error: NotFound
  })
)
