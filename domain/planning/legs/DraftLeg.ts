/** One leg of a chain before it is known what it buys, and once it is. */
import type { ChainId } from "#domain/values/Caip.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"

/** `sellRaw` units of one asset sold for another. */
export interface Sale {
  readonly seller: PlanPosition
  readonly buyer: PlanPosition
  readonly sellRaw: bigint
}

export interface DraftLeg extends Sale {
  /** Value of `sellRaw`, US dollars (wad). */
  readonly usd: bigint
}

/** The leg as a plan has it; `bought` are the raw units that a sale buys. */
export const legOf = (chainId: ChainId, draft: DraftLeg, bought: (sale: Sale) => bigint): Leg => ({
  chainId,
  sell: draft.seller.assetId,
  buy: draft.buyer.assetId,
  sellAmountRaw: draft.sellRaw,
  valueUsd: draft.usd,
  expectedBuyRaw: bought(draft)
})
