import { type ChainId, solanaChainId } from "#domain/values/Caip.ts"

/** CoinGecko's asset platforms by chain id, as its mappings have published them for years. */
const platforms: ReadonlyMap<number, string> = new Map([
  [1, "ethereum"],
  [56, "binance-smart-chain"],
  [8453, "base"],
  [42161, "arbitrum-one"],
  [solanaChainId, "solana"]
])

/** The platform of a chain; `undefined` for a younger chain, which is looked up by its `chain_identifier`. */
export const knownPlatform = (chainId: ChainId): string | undefined => platforms.get(chainId)
