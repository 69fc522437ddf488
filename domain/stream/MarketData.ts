/**
 * What the stream contains: bars of a second for equities, quotes for crypto. Figures are decimal strings in US dollars
 * and units of the asset, times are Unix milliseconds.
 */
import { Schema } from "effect"
import { AssetClass, type StreamAssetKey, assetKey } from "#domain/stream/Topic.ts"

/** A non-negative decimal number as text. */
const Figure = Schema.String.check(Schema.isPattern(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/u))
const Percent = Schema.String.check(Schema.isPattern(/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/u))
const Millis = Schema.Int.check(Schema.isGreaterThan(0))

/** Trades of one second: first, highest, lowest and last price, volume, and its volume-weighted average price. */
export const Bar = Schema.Struct({
  kind: Schema.Literal("ohlcv"),
  open: Figure,
  high: Figure,
  low: Figure,
  close: Figure,
  volume: Figure,
  vwap: Schema.NullOr(Figure),
  startMs: Millis,
  endMs: Millis
})
export type Bar = typeof Bar.Type

/** What one unit costs, with figures of the last 24 hours where the source has them. */
export const MarketQuote = Schema.Struct({
  kind: Schema.Literal("quote"),
  priceUsd: Figure,
  change24hPct: Schema.NullOr(Percent),
  volume24hUsd: Schema.NullOr(Figure),
  marketCapUsd: Schema.NullOr(Figure),
  asOfMs: Millis
})
export type MarketQuote = typeof MarketQuote.Type

export const MarketData = Schema.Union([Bar, MarketQuote])
export type MarketData = typeof MarketData.Type

/** The moment that orders the data of one asset. */
export const timeOf = (data: MarketData): number => (data.kind === "ohlcv" ? data.startMs : data.asOfMs)

/** Data of one asset, before it has a position in the stream. */
export const MarketUpdate = Schema.Struct({ assetClass: AssetClass, symbol: Schema.String, data: MarketData })
export type MarketUpdate = typeof MarketUpdate.Type

/** A tick with its position: sequences grow strictly over all assets, across processes and restarts. */
export interface MarketEvent extends MarketUpdate {
  readonly sequence: number
  /**
   * The sequence of the asset's event before this one, 0 for its first: a client that has seen that one has missed
   * nothing.
   */
  readonly previous: number
}

export const streamKeyOf = ({ assetClass, symbol }: Pick<MarketUpdate, "assetClass" | "symbol">): StreamAssetKey =>
  assetKey(assetClass, symbol)
