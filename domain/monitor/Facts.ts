/** What triggers are measured on, as it was read at one time. */
import type { AssetId } from "#domain/values/Caip.ts"
import type { CandleChange } from "#domain/monitor/CandleChanges.ts"
import type * as Day from "#domain/values/Day.ts"

/** One asset that a portfolio holds or aims at. Values are US dollars (wad). */
export interface HeldPosition {
  readonly assetId: AssetId
  /** Price of one whole token, above zero. Null for an asset that is aimed at, not held, and has no price. */
  readonly priceUsd: bigint | null
  /** All that is held, and what is on its way. */
  readonly valueUsd: bigint
  /** Value less what is promised to withdrawals: what a plan weighs. */
  readonly plannedUsd: bigint
  /** What is held and may be traded now. */
  readonly freeUsd: bigint
  /** The target, basis points of the portfolio; 0 for an asset that is not aimed at. */
  readonly targetBps: number
  /** Whether it is the settlement asset of its chain. */
  readonly isCash: boolean
}

export interface Facts {
  /**
   * False when the portfolio is paused, has a run under way, or was never checked: the end of each of these has its
   * triggers checked.
   */
  readonly isOpen: boolean
  /** Undefined when any part of the portfolio is not known, or is about to change. */
  readonly positions: ReadonlyArray<HeldPosition> | undefined
  /** Prices that may be traded on, US dollars (wad) for one whole token. */
  readonly prices: ReadonlyMap<AssetId, bigint>
  /** Recorded prices by UTC day. */
  readonly history: ReadonlyMap<AssetId, ReadonlyMap<Day.Day, bigint>>
  readonly today: Day.Day
  /** The change of an asset between the closes of two candles, so many hours apart; undefined where it is not known. */
  readonly candleChange: (assetId: AssetId, windowHours: number) => CandleChange | undefined
  /** Pending signatures of the owner and workflows of the portfolio that wait for approval. */
  readonly pendingApprovals: number
}
