/**
 * What a strategy's allocation would have become: its time-weighted return from daily prices, free of fees.
 *
 * On the days of its schedule the worth is spread anew over the version in force; in between the weights drift with the
 * prices. A day without the price of an asset that is held has no point, and a rebalance that lacks a price is made on
 * the first later day that has all. Only a new version does not wait for an asset that has had no price for two days:
 * what is held of it is closed at its last price.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import { type CurvePoint, indexOne } from "#domain/performance/CurvePoint.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import * as Weight from "#domain/values/Weight.ts"

/** Prices of one asset by day; US dollars (wad), above zero. */
export type PriceSeries = ReadonlyMap<Day.Day, bigint>

/** A version and the first day at whose beginning it was head. */
export interface CurveVersion {
  readonly fromDay: Day.Day
  readonly allocation: Allocation
}

export interface CurveTask {
  /** First and last day that may have a point. */
  readonly from: Day.Day
  readonly to: Day.Day
  /** Rebalances are made on this day and every `everyDays` days before and after it, and when the curve begins. */
  readonly anchor: Day.Day
  readonly everyDays: number
  /** Versions in the order of their days; the first one is assumed for all earlier time. */
  readonly versions: ReadonlyArray<CurveVersion>
  readonly prices: ReadonlyMap<AssetId, PriceSeries>
}

interface Lot {
  readonly series: PriceSeries
  readonly weight: bigint
  readonly boughtAt: bigint
}

/** What was bought at the last rebalance, by which version, and the index then. */
interface Holding {
  readonly lots: ReadonlyArray<Lot>
  readonly version: CurveVersion
  readonly index: bigint
}

/** An asset without a price for this long is no longer waited for by a version that comes after. */
const deadAfterDays = 2

const buy = ({ prices }: CurveTask, version: CurveVersion, { day, index }: CurvePoint): Holding | null => {
  const lots: Array<Lot> = []
  for (const { assetId, weight } of version.allocation) {
    const series = prices.get(assetId)
    const boughtAt = series?.get(day)
    if (series === undefined || boughtAt === undefined) return null
    lots.push({ series, weight: BigInt(weight), boughtAt })
  }
  return { lots, version, index }
}

/** The price of a day. */
const ofDay = (series: PriceSeries, day: Day.Day): bigint | undefined => series.get(day)

/** The price of a day, or the last one before it when there has been none for long. A lot was bought at a price. */
const ofDayOrLast = (series: PriceSeries, day: Day.Day): bigint | undefined => {
  let last = day
  while (!series.has(last)) last = Day.add(last, -1)
  return last === day || day - last >= deadAfterDays ? series.get(last) : undefined
}

/** The index of a holding on a day; null when one of its prices is missing. */
const worth = ({ index, lots }: Holding, day: Day.Day, priceOf: typeof ofDay): bigint | null => {
  let grown = 0n
  for (const { boughtAt, series, weight } of lots) {
    const price = priceOf(series, day)
    if (price === undefined) return null
    grown += (weight * price * indexOne) / boughtAt
  }
  return (index * grown) / (BigInt(Weight.full) * indexOne)
}

/** The points of the days that have one, the first of them with `indexOne`. */
export const strategyCurve = (task: CurveTask): ReadonlyArray<CurvePoint> => {
  const { anchor, everyDays, from, to, versions } = task
  const points: Array<CurvePoint> = []
  let holding: Holding | null = null
  let isDue = true
  let inForce = 0
  if (versions.length === 0) return points
  for (let day = from; day <= to; day = Day.add(day, 1)) {
    while (inForce + 1 < versions.length && versions[inForce + 1]!.fromDay <= day) inForce += 1
    if ((day - anchor) % everyDays === 0) isDue = true
    const version = versions[inForce]!
    const isReplaced: boolean = isDue && holding !== null && holding.version !== version
    const index: bigint | null = holding === null ? indexOne : worth(holding, day, isReplaced ? ofDayOrLast : ofDay)
    if (index === null) continue
    const rebalanced: Holding | null = isDue ? buy(task, version, { day, index }) : null
    if (rebalanced !== null) {
      holding = rebalanced
      isDue = false
    }
    // Where the new version lacks a price itself, the day is as any other.
    const isKnown = !isReplaced || rebalanced !== null || (holding !== null && worth(holding, day, ofDay) !== null)
    if (holding !== null && isKnown) points.push({ day, index })
  }
  return points
}
