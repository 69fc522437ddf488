/** Where real chains are, and with which keys a crashing service works on them; as JSON. */
import type { AssetId, ChainId, EvmAddress } from "#domain/Caip.ts"
import { catalogChain } from "#sandbox/market/catalog.ts"

export interface ChainsConfig {
  readonly chains: ReadonlyArray<{
    readonly chainId: ChainId
    readonly rpcUrl: string
    readonly router: EvmAddress
    readonly treasury: EvmAddress
    readonly bridge: EvmAddress
  }>
  readonly lifiUrl: string
  readonly agentKey: string
  readonly relayerKey: string
  readonly relayer: EvmAddress
}

export const chainAsset = (chainId: ChainId, symbol: string) => {
  const { assetId, decimals, name } = catalogChain(chainId)!.tokens.find((token) => token.symbol === symbol)!
  return { assetId: assetId as AssetId, chainId, symbol, name, decimals, isBlocked: false }
}
