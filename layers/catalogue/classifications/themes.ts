/** Which assets a theme brings together, and how well it describes each, in percent. */
import type { Equity } from "#layers/catalogue/assets/equities.ts"
import type { Coin } from "#layers/catalogue/assets/coins.ts"
import type { Commodity } from "#layers/catalogue/assets/commodities.ts"
import type { Fund } from "#layers/catalogue/assets/funds.ts"
import type { PlatformTheme } from "#layers/catalogue/taxonomy/platform.ts"

type Themed<Symbols extends string> = Readonly<Partial<Record<PlatformTheme, { readonly [S in Symbols]?: number }>>>

export const shareThemes: Themed<Equity | Fund> = {
  "artificial-intelligence": {
    NVDA: 97,
    AMD: 88,
    AVGO: 85,
    TSM: 85,
    MSFT: 80,
    GOOGL: 80,
    META: 75,
    PLTR: 88,
    CRWV: 92,
    SMCI: 82,
    ARM: 75,
    MU: 70,
    ORCL: 70,
    AMZN: 65,
    APP: 60,
    SNOW: 60,
    IBM: 55
  },
  "big-technology": { AAPL: 97, MSFT: 97, GOOGL: 97, AMZN: 95, META: 95, NVDA: 93, TSLA: 70, QQQ: 70, XLK: 85 },
  semiconductors: {
    NVDA: 90,
    AMD: 96,
    INTC: 95,
    QCOM: 95,
    AVGO: 90,
    MRVL: 95,
    ARM: 93,
    TSM: 98,
    MU: 97,
    ASML: 97,
    AMAT: 97,
    LRCX: 97,
    KLAC: 97,
    SMH: 98,
    SOXX: 98
  },
  "cloud-computing": {
    AMZN: 80,
    MSFT: 85,
    GOOGL: 70,
    ORCL: 80,
    CRM: 80,
    NOW: 80,
    SNOW: 88,
    DDOG: 85,
    NET: 85,
    CRWV: 85,
    SHOP: 60,
    BABA: 45
  },
  "cyber-security": { CRWD: 98, PANW: 98, FTNT: 97, NET: 75, CSCO: 45 },
  "quantum-computing": { IONQ: 98, RGTI: 98, IBM: 50 },
  "data-centre-power": { VRT: 92, GEV: 80, PWR: 70, CEG: 75, VST: 75, OKLO: 65 },
  "nuclear-energy": { CEG: 90, OKLO: 95, VST: 60, GEV: 55 },
  "electric-vehicles": { TSLA: 95, RIVN: 97, F: 45 },
  "self-driving": { AUR: 95, TSLA: 75, GOOGL: 55 },
  "space-and-defence": { RKLB: 95, LMT: 92, LHX: 92, BA: 70, PLTR: 60, GE: 45 },
  "digital-finance": { SOFI: 90, NU: 90, HOOD: 88, COIN: 75, CRCL: 80, SHOP: 45 },
  "listed-digital-assets": { COIN: 97, CRCL: 93, GLXY: 95, MSTR: 96, CLSK: 92, WULF: 80, IREN: 75, HOOD: 50, DJT: 40 },
  gaming: { RBLX: 97, TTWO: 97, GME: 60, NVDA: 45 },
  "popular-with-small-investors": { GME: 95, AMC: 95, PLTR: 60, DJT: 75, HOOD: 55 },
  "index-investing": { SPY: 98, QQQ: 95, VTI: 98, XLK: 70, SMH: 60, SOXX: 60, BND: 80 },
  income: { SCHD: 95, BND: 85, SGOV: 88, JNJ: 55, XOM: 60, PFE: 60 },
  "hard-assets": { GLD: 97, SLV: 96, USO: 75, USAR: 55 }
}

export const currencyThemes: Themed<Coin | Commodity> = {
  "artificial-intelligence": { RENDER: 60, FET: 90, VIRTUAL: 85 },
  gaming: { AXS: 90, SAND: 88, MANA: 80, APE: 60, IMX: 80 },
  "popular-with-small-investors": { DEGEN: 60, PEPE: 80, SHIB: 85, BONK: 80, WIF: 80 },
  "hard-assets": { XAU: 98, BTC: 60 },
  "decentralised-finance": {
    UNI: 95,
    AAVE: 96,
    CRV: 95,
    COMP: 95,
    MKR: 90,
    MORPHO: 94,
    PENDLE: 93,
    GMX: 93,
    SNX: 90,
    AERO: 93,
    CAKE: 90,
    RAY: 93,
    JUP: 92,
    "1INCH": 90,
    LDO: 85,
    JTO: 75,
    ENA: 85
  },
  "network-coins": { ETH: 97, SOL: 97, BNB: 95, BTC: 70, ARB: 75, STRK: 75 },
  "real-world-assets": { ONDO: 92, MKR: 55, LINK: 50 }
}
