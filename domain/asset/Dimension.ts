/**
 * The dimensions in which assets are classified, and which kinds of asset each classifies. Source:
 * docs/decisions/0013.
 */
import { Schema } from "effect"
import type { AssetKind } from "#domain/asset/CanonicalAsset.ts"

/** Dimensions in the interface's order, which is the order of answers when a request names none. */
export const dimensions = [
  "sector",
  "industryGroup",
  "industry",
  "subIndustry",
  "platformSector",
  "platformTheme",
  "cryptoCategory"
] as const

export const Dimension = Schema.Literals(dimensions)
export type Dimension = typeof Dimension.Type

/** Lines of business are those of one company; a fund holds many. */
const company: ReadonlySet<AssetKind> = new Set(["equity"])

const kinds: Readonly<Record<Dimension, ReadonlySet<AssetKind>>> = {
  sector: company,
  industryGroup: company,
  industry: company,
  subIndustry: company,
  platformSector: new Set(["equity", "etf", "crypto", "stablecoin", "commodity"]),
  platformTheme: new Set(["equity", "etf", "crypto", "commodity"]),
  cryptoCategory: new Set(["crypto", "stablecoin", "commodity"])
}

/** False when no asset of the kind has, or could have, a category in the dimension. */
export const appliesTo = (dimension: Dimension, kind: AssetKind): boolean => kinds[dimension].has(kind)
