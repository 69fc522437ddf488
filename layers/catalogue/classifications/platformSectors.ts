/** The broad sector of each asset, with percent of confidence. */
import type { Equity } from "#layers/catalogue/assets/equities.ts"
import type { Fund } from "#layers/catalogue/assets/funds.ts"
import type { sectors } from "#layers/catalogue/taxonomy/industries.ts"
import type { PlatformSector } from "#layers/catalogue/taxonomy/platform.ts"

/** Where the companies of a sector belong. */
export const platformSectorOf: Readonly<Record<keyof typeof sectors, PlatformSector>> = {
  technology: "technology",
  media: "media",
  lifestyle: "consumer",
  "everyday-goods": "consumer",
  health: "health",
  finance: "finance",
  industry: "industry",
  fuels: "energy",
  power: "energy",
  "raw-materials": "materials"
}

/** Companies that belong elsewhere besides. */
export const alsoIn: { readonly [Ticker in Equity]?: readonly [PlatformSector, number] } = {
  CLSK: ["digital-assets", 95],
  COIN: ["digital-assets", 97],
  CRCL: ["digital-assets", 97],
  GLXY: ["digital-assets", 96],
  HOOD: ["digital-assets", 45],
  IREN: ["digital-assets", 80],
  MSTR: ["digital-assets", 96],
  WULF: ["digital-assets", 88]
}

export const fundSectors: Readonly<Record<Fund, readonly [PlatformSector, number]>> = {
  BND: ["bonds", 99],
  GLD: ["precious-metals", 99],
  QQQ: ["broad-market", 75],
  SCHD: ["broad-market", 85],
  SGOV: ["bonds", 97],
  SLV: ["precious-metals", 99],
  SMH: ["technology", 98],
  SOXX: ["technology", 98],
  SPY: ["broad-market", 99],
  USO: ["energy", 97],
  VTI: ["broad-market", 99],
  XLK: ["technology", 98]
}
