/** One leg of a chain while it is being matched, and once it is. */
import type { ChainId } from "#domain/Caip.ts"
import type { Imbalance } from "#domain/planning/legs/imbalances.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { Position } from "#domain/planning/Position.ts"

/** A leg while the legs of its chain are being matched. */
export interface DraftLeg {
  readonly seller: Imbalance
  readonly buyer: Imbalance
  sellRaw: bigint
  /** Value of `sellRaw`, US dollars (wad). */
  usd: bigint
}

/** `sellRaw` units of one asset sold for another. */
export interface Sale {
  readonly seller: Position
  readonly buyer: Position
  readonly sellRaw: bigint
}

/** The leg as a plan has it; `bought` are the raw units that a sale buys. */
export const legOf = (
  chainId: ChainId,
  { buyer: { position: buyer }, seller: { position: seller }, sellRaw, usd }: DraftLeg,
  bought: (sale: Sale) => bigint
): Leg => ({
  chainId,
  sell: seller.assetId,
  buy: buyer.assetId,
  sellAmountRaw: sellRaw,
  valueUsd: usd,
  expectedBuyRaw: bought({ seller, buyer, sellRaw })
})
