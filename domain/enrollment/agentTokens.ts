/**
 * Which tokens the agent may swap into on a chain: the strategy's own first, then the rest of the catalogue, so that
 * later strategy versions rarely need a new signature. Each token costs one storage slot when the permission is
 * enabled on chain, hence the bound (docs/decisions/0003-agent-permission.md).
 */
import type { Asset } from "#domain/asset/Asset.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/Caip.ts"
import type { Allocation } from "#domain/strategy/Strategy.ts"

/** Most tokens that one permission lists; an allocation has at most 50 assets. */
export const maxTokens = 64

export const agentTokens = (
  chainId: ChainId,
  allocation: Allocation,
  catalogue: ReadonlyArray<Asset>
): ReadonlyArray<AssetId> => {
  const targets = allocation.flatMap(({ assetId }) => (chainIdOf(assetId) === chainId ? [assetId] : []))
  const others = catalogue.flatMap(({ assetId, isBlocked }) => (isBlocked ? [] : [assetId]))
  return [...new Set([...targets, ...others])].slice(0, maxTokens)
}
