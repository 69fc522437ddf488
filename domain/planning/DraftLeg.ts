import type { Imbalance } from "#domain/planning/imbalances.ts"

/** A leg while the legs of its chain are being matched. */
export interface DraftLeg {
  readonly seller: Imbalance
  readonly buyer: Imbalance
  sellRaw: bigint
  /** Value of `sellRaw`, US dollars (wad). */
  usd: bigint
}
