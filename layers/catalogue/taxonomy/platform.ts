/** The service's own groupings: one broad sector for every asset, and themes that cut across sectors. */

/** Label. */
export const platformSectors = {
  technology: "Technology",
  media: "Media and online services",
  consumer: "Consumer",
  health: "Health",
  finance: "Finance",
  industry: "Industry and transport",
  energy: "Energy and power",
  materials: "Materials",
  "digital-assets": "Digital assets",
  "broad-market": "Broad market funds",
  bonds: "Bonds",
  "precious-metals": "Precious metals",
  cash: "Cash and stablecoins"
} as const

export type PlatformSector = keyof typeof platformSectors

/** Label. */
export const platformThemes = {
  "artificial-intelligence": "Artificial intelligence",
  "big-technology": "Big technology",
  semiconductors: "Semiconductors",
  "cloud-computing": "Cloud computing",
  "cyber-security": "Cyber security",
  "quantum-computing": "Quantum computing",
  "data-centre-power": "Power for data centres",
  "nuclear-energy": "Nuclear energy",
  "electric-vehicles": "Electric vehicles",
  "self-driving": "Self-driving",
  "space-and-defence": "Space and defence",
  "digital-finance": "Digital finance",
  "listed-digital-assets": "Listed digital asset companies",
  gaming: "Gaming",
  "popular-with-small-investors": "Popular with small investors",
  "index-investing": "Index investing",
  income: "Income",
  "hard-assets": "Hard assets",
  "decentralised-finance": "Decentralised finance",
  "network-coins": "Network coins",
  "real-world-assets": "Real-world assets on chain"
} as const

export type PlatformTheme = keyof typeof platformThemes
