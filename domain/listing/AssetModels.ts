/** The asset as procedures return it. Field names: shapes Q and R, docs/decisions/0122. */
import { Schema } from "effect"
import { type AssetId, ChainId, isErc20 } from "#domain/values/Caip.ts"
import { AssetKey } from "#domain/listing/AssetKey.ts"
import { LinePoint } from "#domain/marketData/coinDatasets.ts"
import { MarketDataProvider } from "#domain/marketData/Dataset.ts"
import { MaybeFigure } from "#domain/marketData/Figure.ts"
import { MarketStatus } from "#domain/marketData/stockDatasets.ts"

const MaybeText = Schema.NullOr(Schema.String)
const Key = Schema.toType(AssetKey)

const AssetIssuer = Schema.Struct({ slug: Schema.String, name: Schema.String })
export const Exposure = Schema.Struct({ slug: Schema.String, name: Schema.String, category: Schema.String })
export type Exposure = typeof Exposure.Type

export const Taxonomy = Schema.Struct({
  issuer: Schema.NullOr(AssetIssuer),
  exposures: Schema.Array(Exposure),
  primaryExposure: Schema.NullOr(Exposure),
  exposureCategories: Schema.Array(Schema.String),
  isTokenizedEquity: Schema.Boolean
})
export type Taxonomy = typeof Taxonomy.Type

export const MarketFigures = Schema.Struct({
  /** US dollars for one whole token. */
  priceUsd: MaybeFigure,
  /** What the price is: the token's own, its coin's, or the share's times the shares of a token. */
  priceBasis: Schema.NullOr(Schema.Literals(["token", "coin", "share"])),
  change1hPct: MaybeFigure,
  change24hPct: MaybeFigure,
  volume24hUsd: MaybeFigure,
  marketCapUsd: MaybeFigure,
  /** No source of ours states it. */
  liquidityUsd: MaybeFigure,
  sparkline24h: Schema.Array(LinePoint),
  source: Schema.NullOr(MarketDataProvider),
  updatedAt: MaybeText,
  stale: Schema.Boolean
})
export type MarketFigures = typeof MarketFigures.Type

export const AssetMetadata = Schema.Struct({
  symbol: Schema.String,
  name: Schema.String,
  decimals: Schema.Int,
  chainId: ChainId,
  address: Schema.String,
  caipAssetId: Schema.String,
  logoUrl: MaybeText,
  tokenType: Schema.Literals(["erc20", "spl"])
})
export type AssetMetadata = typeof AssetMetadata.Type

/** The standard that a listed token keeps, by its identifier. */
export const tokenTypeOf = (assetId: AssetId): AssetMetadata["tokenType"] => (isErc20(assetId) ? "erc20" : "spl")

export const TagGroups = Schema.Struct({
  type: Schema.Array(Schema.String),
  sector: Schema.Array(Schema.String),
  style: Schema.Array(Schema.String),
  cap: Schema.Array(Schema.String),
  region: Schema.Array(Schema.String)
})
export type TagGroups = typeof TagGroups.Type
export const tagGroups = ["type", "sector", "style", "cap", "region"] as const
export type TagGroup = (typeof tagGroups)[number]

export const EquityDetails = Schema.Struct({
  identity: Schema.Struct({
    ticker: Schema.String,
    companyName: Schema.String,
    description: MaybeText,
    isin: MaybeText,
    exchange: MaybeText,
    country: MaybeText,
    issuer: Schema.NullOr(AssetIssuer)
  }),
  taxonomy: Schema.Struct({
    sector: MaybeText,
    industryGroup: MaybeText,
    industry: MaybeText,
    subIndustry: MaybeText,
    platformSector: MaybeText,
    platformThemes: Schema.Array(Schema.String)
  }),
  tagGroups: TagGroups,
  /** Market of one share. */
  market: Schema.NullOr(
    Schema.Struct({
      primaryPriceUsd: MaybeFigure,
      previousCloseUsd: MaybeFigure,
      dayHighUsd: MaybeFigure,
      dayLowUsd: MaybeFigure,
      changePct: MaybeFigure,
      marketCapUsd: MaybeFigure,
      marketStatus: Schema.NullOr(MarketStatus),
      updatedAt: MaybeText
    })
  ),
  income: Schema.NullOr(
    Schema.Struct({
      dividendYieldPct: MaybeFigure,
      lastDividendUsd: MaybeFigure,
      exDate: MaybeText,
      payDate: MaybeText
    })
  ),
  access: Schema.NullOr(
    Schema.Struct({
      restrictedCountries: Schema.Array(Schema.String),
      minOrderUsd: MaybeFigure,
      asOf: Schema.String,
      source: Schema.String
    })
  ),
  documents: Schema.Array(Schema.Struct({ title: Schema.String, url: Schema.String, kind: Schema.String }))
})
export type EquityDetails = typeof EquityDetails.Type

/** How a raw balance of the token relates to shares, and the issuer's current figures of the token. */
export const ProviderExtensions = Schema.Struct({
  unitModel: Schema.String,
  /** Shares of one whole token; null where no source gives it. */
  multiplier: MaybeFigure,
  navPriceUsd: MaybeFigure,
  navUpdatedAt: MaybeText,
  pausedFeatures: Schema.Array(Schema.String),
  source: Schema.NullOr(MarketDataProvider)
})
export type ProviderExtensions = typeof ProviderExtensions.Type

/** What trading an issuer's token needs to show, beside its market data. */
export const TradingOverlay = Schema.Struct({
  issuerSlug: Schema.String,
  ticker: Schema.String,
  tags: Schema.Array(Schema.String),
  marketStatus: Schema.NullOr(MarketStatus),
  sharePriceUsd: MaybeFigure,
  navPriceUsd: MaybeFigure,
  isPaused: Schema.Boolean,
  sparkline24h: Schema.Array(LinePoint)
})

export const AssetItem = Schema.Struct({
  assetId: Key,
  marketData: MarketFigures,
  metadata: AssetMetadata,
  taxonomy: Taxonomy
})
export type AssetItem = typeof AssetItem.Type

export const StockItem = Schema.Struct({
  ...AssetItem.fields,
  ticker: Schema.String,
  companyName: Schema.String,
  tags: Schema.Array(Schema.String)
})
export type StockItem = typeof StockItem.Type

/** A row of a search: a token, or a tokenized share with what is known of the share. */
export const SearchRow = Schema.Struct({
  type: Schema.Literals(["token", "stock"]),
  ...AssetItem.fields,
  ticker: MaybeText,
  companyName: MaybeText,
  tags: Schema.Array(Schema.String),
  isVerifiedByGlider: Schema.Boolean
})
export type SearchRow = typeof SearchRow.Type
