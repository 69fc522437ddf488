/** What an owner allows to leave a chain: its USDC, for every other chain that has a bridge. */
import type { BridgePolicy } from "#domain/account/Authorization.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { addressOf } from "#layers/evm/address.ts"

const carrierOn = ({ bridge, chainId }: EvmChain) => {
  const asset = bridge === undefined ? undefined : settlementAssetOn(chainId)
  return asset === undefined ? undefined : addressOf(asset)
}

/** Undefined when the chain has no bridge, or no other chain to send to. */
export const bridgePolicy = (chain: EvmChain, chains: ReadonlyArray<EvmChain>): BridgePolicy | undefined => {
  const token = carrierOn(chain)
  const [first, ...others] = chains.flatMap((other) => {
    const carrier = carrierOn(other)
    return other.chainId === chain.chainId || carrier === undefined ? [] : [{ chainId: other.chainId, token: carrier }]
  })
  if (chain.bridge === undefined || token === undefined || first === undefined) return undefined
  return { contract: chain.bridge, token, destinations: [first, ...others] }
}
