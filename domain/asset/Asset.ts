/** A listed on-chain asset. Symbol and name come from the token lists of the deployment, decimals from its chain. */
import * as Amount from "#domain/values/Amount.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"

/** What the venues of its chain give for an asset, in US dollars (wad); zeros where they have no market for it. */
export interface AssetMarket {
  /** Price of one whole token in a sale that moves no price. */
  readonly priceUsd: bigint
  /** Value of the pools' other side: no sale yields more, however much is sold. */
  readonly depthUsd: bigint
}

export interface Asset {
  readonly assetId: AssetId
  readonly chainId: ChainId
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** A blocked asset is neither accepted in allocations nor traded. */
  readonly isBlocked: boolean
  /** Why it is blocked by what its own chain says, as the end of a sentence about it; left out where it is not. */
  readonly refusal?: string
  /** Left out where that is not known, and where its value is not held against it. */
  readonly market?: AssetMarket
}

/** The part of a value, as a divisor, that venues must pay for it to count. */
const minPart = 10n

/** A value that no market backs, and what the venues pay for it at most; US dollars (wad). */
export interface UnbackedValue {
  readonly valueUsd: bigint
  readonly paidUsd: bigint
}

/**
 * What a holding that nobody asked for is worth by its price (US dollars, wad, for one whole token), where the venues
 * pay less than a tenth of that for it: it has no value then. Undefined where they pay more, and where their market is
 * not known.
 */
export const unbackedValue = (
  { decimals, market }: Pick<Asset, "decimals" | "market">,
  raw: bigint,
  priceUsd: bigint
): UnbackedValue | undefined => {
  if (market === undefined) return undefined
  const valueUsd = Amount.valueUsd(raw, decimals, priceUsd)
  const sameUsd = Amount.valueUsd(raw, decimals, market.priceUsd)
  const paidUsd = sameUsd < market.depthUsd ? sameUsd : market.depthUsd
  return valueUsd > paidUsd * minPart ? { valueUsd, paidUsd } : undefined
}
