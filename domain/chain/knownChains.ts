/** Names and block explorers of the chains that a deployment may serve. */
import { type ChainId, solanaChainId } from "#domain/values/Caip.ts"

export interface KnownChain {
  readonly name: string
  /** The block explorer's address; transactions are under `/tx/`, accounts under `/address/`. */
  readonly explorerUrl: string
}

const known: ReadonlyMap<number, KnownChain> = new Map([
  [1, { name: "Ethereum", explorerUrl: "https://etherscan.io" }],
  [8453, { name: "Base", explorerUrl: "https://basescan.org" }],
  [42161, { name: "Arbitrum One", explorerUrl: "https://arbiscan.io" }],
  [56, { name: "BNB Smart Chain", explorerUrl: "https://bscscan.com" }],
  [4663, { name: "Robinhood Chain", explorerUrl: "https://robinhoodchain.blockscout.com" }],
  [solanaChainId, { name: "Solana", explorerUrl: "https://explorer.solana.com" }]
])

export const knownChain = (chainId: ChainId): KnownChain | undefined => known.get(chainId)
