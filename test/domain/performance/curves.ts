/** Small curves for rule tests: days counted from zero, prices in cents of a dollar. */
import type { AssetId } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { type CurveTask, strategyCurve } from "#domain/performance/strategyCurve.ts"
import { changeOf, formatPercent } from "#domain/performance/percent.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

export const a: AssetId = baseWeth.assetId
export const b: AssetId = baseBtc.assetId
export const c: AssetId = baseUsdc.assetId

const cent = Decimal.one / 100n

/** Prices in cents from day 0 on; null where there is none. */
export const series = (...cents: ReadonlyArray<number | null>): ReadonlyMap<Day, bigint> =>
  new Map(cents.flatMap((price, day) => (price === null ? [] : [[day as Day, BigInt(price) * cent] as const])))

export const halves = [
  { assetId: a, weight: 5000 },
  { assetId: b, weight: 5000 }
]

export const only = (assetId: AssetId) => [{ assetId, weight: 10_000 }]

/** A curve from day 0 on, rebalanced every day, of the first version alone. */
export const task = (
  prices: CurveTask["prices"],
  days: number,
  changes: Partial<Omit<CurveTask, "prices">> = {}
): CurveTask => ({
  from: 0 as Day,
  to: (days - 1) as Day,
  anchor: 0 as Day,
  everyDays: 1,
  versions: [{ fromDay: 0 as Day, allocation: halves }],
  prices,
  ...changes
})

/** The curve as it is shown: day and percent. */
export const shown = (given: CurveTask): ReadonlyArray<readonly [number, string]> =>
  strategyCurve(given).map(({ day, index }) => [day, formatPercent(changeOf(indexOne, index))] as const)
