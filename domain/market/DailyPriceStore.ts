/**
 * Port: the recorded prices of assets by UTC day, and of which assets they are recorded. A recorded price never
 * changes.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type * as Day from "#domain/values/Day.ts"
import type { DayPrice } from "#domain/market/PriceHistory.ts"

/** An asset whose history has a gap that the source may fill. */
export interface HistoryGap {
  readonly assetId: AssetId
  /** Up to this day nothing is missing that the source has; null when it never answered. */
  readonly completeThrough: Day.Day | null
}

/** The past days of an asset as the source has them. */
export interface KnownHistory {
  readonly assetId: AssetId
  readonly prices: ReadonlyArray<DayPrice>
  /** Up to this day nothing is missing that the source has. */
  readonly completeThrough: Day.Day
  readonly at: DateTime.Utc
}

/** Which gaps to claim. */
export interface GapQuery {
  readonly now: DateTime.Utc
  /** Gaps that were tried after this moment are left alone. */
  readonly triedBefore: DateTime.Utc
  /** An asset that is complete through this day has no gap. */
  readonly completeThrough: Day.Day
  readonly limit: number
  /** Only these assets, when given. */
  readonly among?: ReadonlyArray<AssetId> | undefined
}

/**
 * Recorded prices by UTC day.
 *
 * **When to use**
 *
 * Use to compute over past days. Prices of now are `Prices`; `PriceRecorder` is the only writer.
 *
 * **Details**
 *
 * US dollars (wad) for one whole token. A day without a price is absent, never zero.
 */
export class DailyPriceStore extends Context.Service<
  DailyPriceStore,
  {
    /** Tracks every asset that a strategy version made at `since` or later names. */
    readonly track: (since: DateTime.Utc, now: DateTime.Utc) => Effect.Effect<void>
    /** Tracked assets without a price of the day. */
    readonly unpriced: (day: Day.Day) => Effect.Effect<ReadonlyArray<AssetId>>
    /** Claims gaps, those never tried first; no other process gets them before the next try is due. */
    readonly claimGaps: (query: GapQuery) => Effect.Effect<ReadonlyArray<HistoryGap>>
    readonly recordHistory: (known: KnownHistory) => Effect.Effect<void>
    /** Writes the prices of one day; assets that were complete up to the day before are then complete through it. */
    readonly recordDay: (day: Day.Day, prices: ReadonlyMap<AssetId, bigint>, at: DateTime.Utc) => Effect.Effect<void>
    /** Prices of a day and later; an asset without any is absent. */
    readonly read: (
      assetIds: ReadonlyArray<AssetId>,
      from: Day.Day
    ) => Effect.Effect<ReadonlyMap<AssetId, ReadonlyMap<Day.Day, bigint>>>
  }
>()("ballast/domain/market/DailyPriceStore") {}
