/** The asset into which a liquidation sells: the canonical USDC of its chain. Source: shapes 2.22 and 2.24. */
import { type AssetId, type ChainId, namespaceOfChain } from "#domain/values/Caip.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import type { Families } from "#domain/chain/Families.ts"

/** The settlement asset of a chain; undefined where assets cannot be liquidated. */
export const settlementAssetOn = (families: Families["Service"], chainId: ChainId): AssetId | undefined =>
  families[namespaceOfChain(chainId)].sellsWithinWithdrawal ? usdcOn(chainId) : undefined
