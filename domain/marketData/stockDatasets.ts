/** What is kept of shares, and of what issuers say of their tokens. */
import { Duration, Schema } from "effect"
import { dataset } from "#domain/marketData/Dataset.ts"
import { Figure, MaybeFigure } from "#domain/marketData/Figure.ts"

const MaybeText = Schema.NullOr(Schema.String)

/** A share's price now and on the day. */
export const StockQuote = Schema.Struct({
  ticker: Schema.String,
  priceUsd: MaybeFigure,
  previousCloseUsd: MaybeFigure,
  dayHighUsd: MaybeFigure,
  dayLowUsd: MaybeFigure,
  dayVolume: MaybeFigure,
  changePercentage24h: MaybeFigure,
  updatedAt: MaybeText
})
export type StockQuote = typeof StockQuote.Type
export const stockQuotes = dataset({ name: "stock-quotes", provider: "massive", schema: Schema.Array(StockQuote) })

export const MarketStatus = Schema.Literals(["open", "closed", "extended-hours"])
const StockMarketStatus = Schema.Struct({ status: MarketStatus, at: MaybeText })
export const stockMarketStatus = dataset({
  name: "stock-market-status",
  provider: "massive",
  schema: StockMarketStatus
})

/** What a company or fund is, by ticker. */
export const StockDetail = Schema.Struct({
  ticker: Schema.String,
  name: Schema.String,
  description: MaybeText,
  homepageUrl: MaybeText,
  listDate: MaybeText,
  /** Market identifier code (ISO 10383). */
  exchange: MaybeText,
  /** Massive's code of the kind of security: `CS`, `ETF`, `ADRC`. */
  typeCode: MaybeText,
  industryDescription: MaybeText,
  employees: Schema.NullOr(Schema.Int),
  marketCapUsd: MaybeFigure
})
export type StockDetail = typeof StockDetail.Type
export const stockDetails = dataset({
  name: "stock-details",
  provider: "massive",
  schema: StockDetail,
  interval: Duration.days(7)
})

/** The last year's cash dividends, newest first, by ticker. */
export const Dividend = Schema.Struct({
  amount: Figure,
  currency: MaybeText,
  /** `YYYY-MM-DD`. */
  exDate: Schema.String,
  payDate: MaybeText
})
export const stockDividends = dataset({
  name: "stock-dividends",
  provider: "massive",
  schema: Schema.Array(Dividend),
  interval: Duration.days(1)
})

/** The issuer's own data of one of its tokens. */
export const IssuedToken = Schema.Struct({
  /** `<address>:<chainId>`. */
  assetId: Schema.String,
  isin: MaybeText,
  /** Shares that one token stands for, where the issuer gives it. */
  multiplier: MaybeFigure,
  /** Net asset value in US dollars, as the issuer states it. */
  navPriceUsd: MaybeFigure,
  navUpdatedAt: MaybeText,
  iconUrl: MaybeText,
  pausedFeatures: Schema.Array(Schema.String)
})
export type IssuedToken = typeof IssuedToken.Type
export const issuedByCoinbase = dataset({
  name: "issued-by-coinbase",
  provider: "coinbase",
  schema: Schema.Array(IssuedToken)
})
/** A member for each symbol, numbered: its tokens on all chains. */
export const issuedByXStocks = dataset({
  name: "issued-by-xstocks",
  provider: "xstocks",
  schema: Schema.Array(IssuedToken),
  interval: Duration.hours(1)
})

/**
 * Shares that one token stands for, and the number after the next corporate action, once the issuer has announced one.
 */
export const IssuedMultiplier = Schema.Struct({
  assetId: Schema.String,
  multiplier: MaybeFigure,
  next: Schema.NullOr(Schema.Struct({ multiplier: Figure, from: Schema.String }))
})
export type IssuedMultiplier = typeof IssuedMultiplier.Type
/** A member for each token whose balance is multiplied, numbered. */
export const multipliersOfXStocks = dataset({
  name: "multipliers-of-xstocks",
  provider: "xstocks",
  schema: IssuedMultiplier,
  interval: Duration.hours(1)
})
