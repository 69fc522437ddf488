/** Port: how the supported chains are doing. */
import { Context, type Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"

export interface ChainState {
  readonly chainId: ChainId
  /** Blocks that must include a transaction, its own and later ones, before it counts. */
  readonly confirmations: number
  /** Whether one of its endpoints answered the last check, a few seconds ago at most. */
  readonly isAvailable: boolean
}

/**
 * How the supported chains are doing.
 *
 * **When to use**
 *
 * Use to show chains to people. Code that acts on a chain calls the chain, and handles `ChainUnavailable`.
 */
export class ChainStates extends Context.Service<
  ChainStates,
  {
    /** States of every supported chain, in the order in which they are configured. */
    readonly all: Effect.Effect<ReadonlyArray<ChainState>>
  }
>()("ballast/domain/chain/ChainStates") {}
