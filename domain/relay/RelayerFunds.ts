/** Port: what the payers of transactions have left: relayers, and the agent on Solana. Without it nothing lands. */
import { Context, type Effect } from "effect"
import type { Address, ChainId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** The native balance of one of them on one chain, in 18 decimals. */
export interface Funds {
  readonly chainId: ChainId
  readonly relayer: Address
  readonly balance: bigint
  /** It is below what the deployment set as its alarm. */
  readonly isLow: boolean
}

/**
 * What the payers of transactions have left.
 *
 * **When to use**
 *
 * Use for metrics and alarms, before a transaction does not land.
 */
export class RelayerFunds extends Context.Service<
  RelayerFunds,
  {
    readonly chains: ReadonlyArray<ChainId>
    readonly read: (chainId: ChainId) => Effect.Effect<ReadonlyArray<Funds>, ChainUnavailable>
  }
>()("ballast/domain/relay/RelayerFunds") {}
