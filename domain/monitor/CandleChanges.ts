/**
 * Closes of candles that have ended, for triggers over hours. Recorded prices are one a day; within a day the candles
 * of the shared market data are used.
 */
import { Context } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Candle, CandleSpan } from "#domain/marketData/coinDatasets.ts"

/** US dollars (wad) at the end of the window, and at its beginning. */
export interface CandleChange {
  readonly before: bigint
  readonly now: bigint
}

const hour = 3_600_000

/** The longest window, in hours: half of the days that the coarser of the two series reaches back. */
export const maxWindowHours = 336

/** Candles of half an hour reach back a day, those of four hours a month. */
export const spanFor = (windowHours: number): CandleSpan => (windowHours <= 12 ? "day" : "month")

interface Close {
  /** End of the candle. */
  readonly at: number
  /** US dollars, as a decimal. */
  readonly price: string
}

/** How long one candle is: as far as two of them are apart at least, since markets close and series have gaps. */
const lengthOf = (candles: ReadonlyArray<Candle>): number =>
  candles
    .slice(1)
    .reduce((least, { timestamp }, index) => Math.min(least, timestamp - candles[index]!.timestamp), Infinity)

/**
 * What the price was at the end of the last whole candle, and so many hours before. Undefined where either is not known
 * to within a candle, or the last one ended three candles ago: a closed market has no new candles.
 */
export const candleChange = (
  candles: ReadonlyArray<Candle>,
  windowHours: number,
  now: number
): CandleChange | undefined => {
  const sorted = candles.toSorted((a, b) => a.timestamp - b.timestamp)
  const length = lengthOf(sorted)
  if (!Number.isFinite(length) || length <= 0) return undefined
  const closes = sorted.map(({ close, timestamp }): Close => ({ at: timestamp + length, price: close }))
  const last = closes.findLast(({ at }) => at <= now)
  if (last === undefined || now - last.at > 3 * length) return undefined
  const begin = last.at - windowHours * hour
  const first = closes.findLast(({ at }) => at <= begin)
  if (first === undefined || begin - first.at >= length) return undefined
  const [before, after] = [Decimal.parse(first.price), Decimal.parse(last.price)]
  return before === undefined || after === undefined || before <= 0n ? undefined : { before, now: after }
}

/**
 * Port: the change of an asset over so many hours up to a time; undefined where it is not known.
 *
 * **When to use**
 *
 * Use where triggers over hours are read. Changes over days are read from the prices that `PriceRecorder` keeps.
 */
export const CandleChanges = Context.Reference<
  (assetId: AssetId, windowHours: number, now: number) => CandleChange | undefined
>("ballast/domain/monitor/CandleChanges", { defaultValue: () => () => undefined })
