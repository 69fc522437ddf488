/**
 * Which tokens the agent may swap into on a chain: the strategy's own first, then the rest of the catalogue, so that
 * later strategy versions rarely need a new signature. Each token costs a storage slot for each kind of swap when the
 * permission is enabled on chain, hence the bound (docs/decisions/0003-agent-permission.md).
 */
import { Effect } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import type { Assets } from "#domain/asset/Assets.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"

/** Most tokens that one permission lists: as many as an allocation may have. */
const maxTokens = 50

const agentTokens = (
  chainId: ChainId,
  allocation: Allocation,
  catalogue: ReadonlyArray<Asset>
): ReadonlyArray<AssetId> => {
  const targets = allocation.flatMap(({ assetId }) => (chainIdOf(assetId) === chainId ? [assetId] : []))
  const others = catalogue.flatMap(({ assetId, isBlocked }) => (isBlocked ? [] : [assetId]))
  return [...new Set([...targets, ...others])].slice(0, maxTokens)
}

/** Tokens that the agent may trade on each of several chains. */
export const agentTokensOn = (assets: Assets["Service"], chainIds: ReadonlyArray<ChainId>, allocation: Allocation) =>
  Effect.forEach(chainIds, (chainId) =>
    Effect.map(assets.onChain(chainId), (catalogue) => ({
      chainId,
      assets: agentTokens(chainId, allocation, catalogue)
    }))
  )
