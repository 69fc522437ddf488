/** What a coin or token is for, and how well each use describes it, in percent. */
import type { Coin } from "#layers/catalogue/assets/coins.ts"
import type { Commodity } from "#layers/catalogue/assets/commodities.ts"
import type { Stablecoin } from "#layers/catalogue/assets/stablecoins.ts"
import type { CryptoCategory } from "#layers/catalogue/taxonomy/cryptoCategories.ts"

export const cryptoUses: Readonly<
  Record<CryptoCategory, { readonly [Symbol in Coin | Stablecoin | Commodity]?: number }>
> = {
  "store-of-value": { BTC: 97 },
  "contract-networks": { ETH: 98, SOL: 98, BNB: 93 },
  "scaling-networks": { ARB: 96, STRK: 96, IMX: 80 },
  "dollar-stablecoins": { USDC: 99, USDT: 98, DAI: 96, USDS: 96, PYUSD: 98, USDG: 98 },
  "euro-stablecoins": { EURC: 98 },
  "decentralised-exchanges": { UNI: 96, CRV: 93, AERO: 96, CAKE: 94, RAY: 95, JUP: 90, "1INCH": 88, GMX: 45 },
  lending: { AAVE: 97, COMP: 97, MORPHO: 96, MKR: 75 },
  "derivatives-and-yield": { GMX: 93, SNX: 90, PENDLE: 94, ENA: 75 },
  staking: { LDO: 95, cbETH: 95, JTO: 85, EIGEN: 88 },
  "oracles-and-data": { LINK: 96, PYTH: 96, GRT: 85 },
  "cross-chain": { W: 96, LINK: 45 },
  "ai-and-compute": { RENDER: 90, FET: 93, VIRTUAL: 90, GRT: 40 },
  "games-and-worlds": { AXS: 95, SAND: 95, MANA: 95, IMX: 75, APE: 80 },
  "names-and-attention": { ENS: 93, BAT: 92, DEGEN: 45 },
  memes: { PEPE: 98, SHIB: 95, BONK: 95, WIF: 98, DEGEN: 75, APE: 45 },
  "tokenized-assets": { XAU: 95, ONDO: 90, MKR: 50, ENA: 40 }
}
