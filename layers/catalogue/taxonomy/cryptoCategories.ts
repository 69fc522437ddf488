/** What coins and tokens are for. */

/** Label. */
export const cryptoCategories = {
  "store-of-value": "Store of value",
  "contract-networks": "Smart contract networks",
  "scaling-networks": "Scaling networks",
  "dollar-stablecoins": "Dollar stablecoins",
  "euro-stablecoins": "Euro stablecoins",
  "decentralised-exchanges": "Decentralised exchanges",
  lending: "Lending",
  "derivatives-and-yield": "Derivatives and yield",
  staking: "Liquid staking and restaking",
  "oracles-and-data": "Oracles and data",
  "cross-chain": "Cross-chain messaging",
  "ai-and-compute": "AI and computing",
  "games-and-worlds": "Games and virtual worlds",
  "names-and-attention": "Names and attention",
  memes: "Memes",
  "tokenized-assets": "Tokenized assets"
} as const

export type CryptoCategory = keyof typeof cryptoCategories
