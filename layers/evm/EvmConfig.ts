/** What a deployment decides about its EVM chains: endpoints, venue and the two keys of the service. */
import { Context } from "effect"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"

export interface EvmChain {
  readonly chainId: ChainId
  /** JSON-RPC endpoints of the chain, at least one; a later one is used when an earlier one does not answer. */
  readonly rpcUrls: readonly [string, ...ReadonlyArray<string>]
  /** The chain's Uniswap v2 router. */
  readonly router: EvmAddress
  /** Tokens through which a swap of two hops may pass, such as wrapped ether and USDC. */
  readonly connectorTokens: ReadonlyArray<EvmAddress>
  /** Blocks that must include a transaction, its own and those after it, before what it did counts. At least one. */
  readonly confirmations: number
  /**
   * Seconds since the latest block of a node, beyond which nothing is read from it unless another node shows no later
   * block either; left out: blocks of any age are read.
   */
  readonly headMaxAgeSeconds?: number
  /** Wei for a unit of gas above which the service waits rather than pays. */
  readonly gasCeiling: bigint
  /** Wei for a unit of gas that the relayer offers as a tip at least, also where blocks have room for less. */
  readonly minTip: bigint
  /** How the chain charges for the bytes of a transaction beside its execution; left out where it does not. */
  readonly rollup?: "optimism" | "arbitrum"
  /**
   * Gas that a transaction of several user operations may use; 0 sends each alone. As much as a transaction may when
   * left out.
   */
  readonly bundleGas?: bigint
  /** Wei of the relayer below which an alarm is raised. */
  readonly lowRelayerFunds: bigint
  /**
   * Our contract for swaps over a provider's routes, and the provider's contract that it calls; left out where none is.
   */
  readonly routedSwap?: { readonly contract: EvmAddress; readonly target: EvmAddress }
  /** The guard that new permissions name as their policy; left out where there is none. */
  readonly guard?: EvmAddress
  /**
   * The contract by which an issuer sells and takes back its tokens, the stablecoin that it takes and pays, and how the
   * issuer calls the chain; left out where no issuer trades.
   */
  readonly issuer?: { readonly manager: EvmAddress; readonly stable: EvmAddress; readonly chain: string }
  /** The contract that takes value for other chains; left out where none does. */
  readonly bridge?: EvmAddress
}

export class EvmConfig extends Context.Service<
  EvmConfig,
  {
    readonly chains: ReadonlyArray<EvmChain>
    /** The key that signs user operations within the permissions that owners granted. */
    readonly agent: SignerConfig
    /** The keys of the accounts that pay gas: they submit user operations and can do nothing else with them. */
    readonly relayers: readonly [SignerConfig, ...ReadonlyArray<SignerConfig>]
  }
>()("ballast/layers/evm/EvmConfig") {}
