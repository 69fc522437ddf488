/** What a deployment decides about its EVM chains: endpoints, venue and the two keys of the service. */
import { Context, type Redacted } from "effect"
import type { ChainId, EvmAddress } from "#domain/Caip.ts"

export interface EvmChain {
  readonly chainId: ChainId
  /** JSON-RPC endpoints of the chain; a later one is asked when an earlier one does not answer. At least one. */
  readonly rpcUrls: readonly [string, ...ReadonlyArray<string>]
  /** The chain's Uniswap v2 router. */
  readonly router: EvmAddress
  /** Tokens through which a swap of two hops may pass, such as wrapped ether and USDC. */
  readonly hubs: ReadonlyArray<EvmAddress>
  /** The contract that takes value for other chains; left out where none does. */
  readonly bridge?: EvmAddress
}

export class EvmConfig extends Context.Service<
  EvmConfig,
  {
    readonly chains: ReadonlyArray<EvmChain>
    /** Key (32 bytes in hex) that signs user operations within the permissions that owners granted. */
    readonly agentKey: Redacted.Redacted
    /** Key (32 bytes in hex) of the account that pays gas: it submits user operations and can do nothing else with them. */
    readonly relayerKey: Redacted.Redacted
  }
>()("ballast/layers/evm/EvmConfig") {}
