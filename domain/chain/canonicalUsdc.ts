/** The USDC that its issuer maintains on a chain itself, never a bridged one. Source: shapes 2.24. */
import { type Address, type AssetId, assetAt, type ChainId, solanaChainId } from "#domain/values/Caip.ts"

const canonicalUsdc: ReadonlyMap<number, string> = new Map([
  [1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"],
  [8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
  [42161, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"],
  [solanaChainId, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"]
])

/** The canonical USDC of a chain; undefined where the issuer has none. */
export const usdcOn = (chainId: ChainId): AssetId | undefined => {
  const address = canonicalUsdc.get(chainId)
  return address === undefined ? undefined : assetAt(chainId, address as Address)
}
