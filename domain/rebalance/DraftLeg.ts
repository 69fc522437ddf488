import type { Position } from "#domain/rebalance/Position.ts"

/** A leg while its chain is being planned. */
export interface DraftLeg {
  readonly seller: Position
  readonly buyer: Position
  sellRaw: bigint
  /** Value of `sellRaw`, US dollars (wad). */
  usd: bigint
  /** Raw units that `sellRaw` buys at the prices and costs of the plan; zero until the leg is complete. */
  buyRaw: bigint
}
