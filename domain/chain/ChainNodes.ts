/** Port: how far the nodes of the chains are, by what they have answered. */
import { Context, type Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"

/** A node that is behind what was seen of its chain. */
export interface NodeBehind {
  readonly chainId: ChainId
  /** The number of the endpoint among those that are configured, from one on. */
  readonly endpoint: number
  readonly blocks: bigint
}

/**
 * Which nodes are behind.
 *
 * **When to use**
 *
 * Use to show operators which endpoint to check. Nothing is asked for it: a node of which nothing was read lately is
 * not known to be behind.
 */
export class ChainNodes extends Context.Service<
  ChainNodes,
  {
    readonly behind: Effect.Effect<ReadonlyArray<NodeBehind>>
  }
>()("ballast/domain/chain/ChainNodes") {}
