/**
 * Which figures of a provider are market data, and which are not: pure.
 *
 * A provider's number is wrong when it is not finite, negative, a price of zero, a bar whose high is not its highest,
 * or of a time that has not come. Data that are not newer than the last of the asset are a repeat or came out of order.
 */
import { Result } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { type Bar, type MarketData, type MarketQuote, timeOf } from "#domain/stream/MarketData.ts"

/** Why a tick was dropped; `malformed` is an entry that does not have the provider's shape at all. */
const dropReasons = [
  "malformed",
  "not_finite",
  "negative",
  "inconsistent",
  "future",
  "out_of_order",
  "duplicate"
] as const
export type DropReason = (typeof dropReasons)[number]

/** Market data whose figures are numbers, as providers send them. */
type InNumbers<Data> = {
  readonly [Field in keyof Data]: string extends Data[Field] ? Exclude<Data[Field], string> | number : Data[Field]
}

export type BarFigures = InNumbers<Bar>
export type QuoteFigures = InNumbers<MarketQuote>

/** A provider's clock may be this far ahead of ours, in milliseconds. */
const clockTolerance = 5_000

const text = (value: number): string => {
  const written = Decimal.format(Decimal.fromNumber(value)!, 18)
  return written.includes(".") ? written.replace(/\.?0+$/u, "") : written
}
const textOrNull = (value: number | null) => (value === null ? null : text(value))

const isWhole = (time: number) => Number.isSafeInteger(time) && time > 0

/** Figures as market data, or why they are none. */
type Reading = Result.Result<MarketData, DropReason>

const ofBar = (bar: BarFigures, now: number): Reading => {
  const prices = [bar.open, bar.high, bar.low, bar.close, ...(bar.vwap === null ? [] : [bar.vwap])]
  if (![...prices, bar.volume].every(Number.isFinite)) return Result.fail("not_finite")
  if (prices.some((price) => price <= 0) || bar.volume < 0) return Result.fail("negative")
  const isInside = [bar.open, bar.close].every((price) => price >= bar.low && price <= bar.high)
  if (!isInside || !isWhole(bar.startMs) || !isWhole(bar.endMs) || bar.endMs <= bar.startMs)
    return Result.fail("inconsistent")
  if (bar.startMs > now + clockTolerance) return Result.fail("future")
  return Result.succeed({
    kind: "ohlcv",
    open: text(bar.open),
    high: text(bar.high),
    low: text(bar.low),
    close: text(bar.close),
    volume: text(bar.volume),
    vwap: textOrNull(bar.vwap),
    startMs: bar.startMs,
    endMs: bar.endMs
  })
}

const ofQuote = (quote: QuoteFigures, now: number): Reading => {
  const { asOfMs, change24hPct, marketCapUsd, priceUsd, volume24hUsd } = quote
  const sizes = [volume24hUsd, marketCapUsd].filter((size) => size !== null)
  if (![priceUsd, ...sizes, change24hPct ?? 0].every(Number.isFinite)) return Result.fail("not_finite")
  if (priceUsd <= 0 || sizes.some((size) => size < 0)) return Result.fail("negative")
  if (!isWhole(asOfMs)) return Result.fail("inconsistent")
  if (asOfMs > now + clockTolerance) return Result.fail("future")
  return Result.succeed({
    kind: "quote",
    priceUsd: text(priceUsd),
    change24hPct: textOrNull(change24hPct),
    volume24hUsd: textOrNull(volume24hUsd),
    marketCapUsd: textOrNull(marketCapUsd),
    asOfMs
  })
}

/** Reads figures at `now`, Unix time in milliseconds. */
export const readTick = (figures: BarFigures | QuoteFigures, now: number): Reading =>
  figures.kind === "ohlcv" ? ofBar(figures, now) : ofQuote(figures, now)

/** Why data must not follow the last of their asset; `undefined` when they may. */
export const misplaced = (data: MarketData, last: MarketData | undefined): DropReason | undefined => {
  if (last === undefined) return undefined
  const [time, before] = [timeOf(data), timeOf(last)]
  if (time === before) return "duplicate"
  return time < before ? "out_of_order" : undefined
}
