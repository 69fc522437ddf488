/** The asset into which a liquidation sells: the canonical USDC of its chain. Source: shapes 2.22 and 2.24. */
import { type AssetId, type ChainId, namespaceOfChain } from "#domain/Caip.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"

/**
 * The settlement asset of a chain; undefined where assets cannot be liquidated. On Solana each sale is a transaction of
 * its own, and what the owner signed could be carried out in part.
 */
export const settlementAssetOn = (chainId: ChainId): AssetId | undefined =>
  namespaceOfChain(chainId) === "solana" ? undefined : usdcOn(chainId)
