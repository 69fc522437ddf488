/** Where real chains are, and with which keys a crashing service works on them; as JSON. */
import type { AssetId, ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"

export interface ChainsConfig {
  readonly chains: ReadonlyArray<{
    readonly chainId: ChainId
    readonly rpcUrl: string
    /** Two nodes of it, the first of which is always some blocks behind. */
    readonly nodes: readonly [string, string]
    readonly router: EvmAddress
    readonly treasury: EvmAddress
    readonly bridge: EvmAddress
  }>
  readonly solana: {
    readonly rpcUrl: string
    readonly jupiterUrl: string
    /** Answers a request with a new portfolio on the chain: a `SolanaPortfolio`. */
    readonly portfoliosUrl: string
    /** Seed of the agent's key, in hex. */
    readonly agentSeed: string
  }
  readonly lifiUrl: string
  readonly agentKey: string
  readonly relayerKey: string
  readonly relayer: EvmAddress
}

/** A portfolio on Solana that holds 100 USDC; all values as text. */
export interface SolanaPortfolio {
  /** Seed of the owner's key, in hex. */
  readonly ownerSeed: string
  readonly owner: string
  readonly deposit: string
  readonly agent: string
  /** Id in hex with 0x. */
  readonly walletId: string
  readonly roleId: number
}

export const chainAsset = (chainId: ChainId, symbol: string) => {
  const { assetId, decimals, name } = catalogChain(chainId)!.tokens.find((token) => token.symbol === symbol)!
  return { assetId: assetId as AssetId, chainId, symbol, name, decimals, isBlocked: false }
}
