/** Port: what the relayers have left to pay for gas. Without it nothing lands on a chain. */
import { Context, type Effect } from "effect"
import type { ChainId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** Wei of one relayer on one chain. */
export interface Funds {
  readonly chainId: ChainId
  readonly relayer: EvmAddress
  readonly balance: bigint
  /** It is below what the deployment set as its alarm. */
  readonly isLow: boolean
}

export class RelayerFunds extends Context.Service<
  RelayerFunds,
  {
    readonly chains: ReadonlyArray<ChainId>
    readonly read: (chainId: ChainId) => Effect.Effect<ReadonlyArray<Funds>, ChainUnavailable>
  }
>()("ballast/domain/relay/RelayerFunds") {}
