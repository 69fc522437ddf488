/** What a portfolio was worth, and what it held then. */
import type { AccountId, AssetId, HeldAssetId } from "#domain/values/Caip.ts"
import type * as Day from "#domain/values/Day.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"

/** An asset with a price in one account: a token, or the chain's native coin. */
export interface HeldAsset {
  readonly assetId: HeldAssetId
  readonly raw: bigint
  /** US dollars (wad) for one whole token. */
  readonly priceUsd: bigint
  readonly decimals: number
}

/** What was on its way to an account from another one of the portfolio, and counted as if it were there. */
export interface IncomingAsset extends HeldAsset {
  readonly assetId: AssetId
  /** The operation that watches the transfer. */
  readonly operationId: OperationId
}

/** What one account held of value at one block; the next valuation is compared with it. */
export interface AccountSnapshot {
  readonly accountId: AccountId
  readonly blockNumber: bigint
  readonly holdings: ReadonlyArray<HeldAsset>
  /** Left out when there is nothing. */
  readonly incoming?: ReadonlyArray<IncomingAsset>
}

/** What a portfolio is worth at one time. All values are US dollars (wad). */
export interface Valuation {
  readonly valueUsd: bigint
  /** What came in (above zero) or went out (below zero) since the valuation before, at the prices of this one. */
  readonly cashFlowUsd: bigint
  /**
   * What one dollar of the valuation before has become (wad); null when that was worth nothing, or it is not known.
   */
  readonly growth: bigint | null
  /** What became of the value before is not known: the return is counted anew from here. */
  readonly isRebased: boolean
  readonly accounts: ReadonlyArray<AccountSnapshot>
}

/**
 * All valuations of one UTC day: the value at its end, the sum of its cash flows, the product of its growth. On a day
 * on which the return was counted anew it is the growth from then on.
 */
export interface DayValuation {
  readonly day: Day.Day
  readonly valueUsd: bigint
  readonly cashFlowUsd: bigint
  readonly growth: bigint | null
  readonly isRebased: boolean
}

/** A valuation and whose it is. */
export interface PortfolioValuation extends Valuation {
  readonly portfolioId: PortfolioId
}
