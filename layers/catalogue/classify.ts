/** Turns the readable lists into rows: which categories each subject has in each dimension, and how surely. */
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import type { Classification } from "#domain/asset/Classification.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"
import { coins } from "#layers/catalogue/assets/coins.ts"
import { commodities } from "#layers/catalogue/assets/commodities.ts"
import { type Equity, equities } from "#layers/catalogue/assets/equities.ts"
import { funds } from "#layers/catalogue/assets/funds.ts"
import { stablecoins } from "#layers/catalogue/assets/stablecoins.ts"
import { cryptoUses } from "#layers/catalogue/classifications/cryptoUses.ts"
import { equityIndustries } from "#layers/catalogue/classifications/equityIndustries.ts"
import { alsoIn, fundSectors, platformSectorOf } from "#layers/catalogue/classifications/platformSectors.ts"
import { currencyThemes, shareThemes } from "#layers/catalogue/classifications/themes.ts"
import { cryptoCategories } from "#layers/catalogue/taxonomy/cryptoCategories.ts"
import { industries, industryGroups, sectors, subIndustries } from "#layers/catalogue/taxonomy/industries.ts"
import { platformSectors, platformThemes } from "#layers/catalogue/taxonomy/platform.ts"

/** A category and percent of confidence, the more fitting first. */
type Fit<Key extends string> = readonly [Key, number]

/** Merges categories that come up more than once: each once, with its highest confidence. */
const merged = <Key extends string>(fits: ReadonlyArray<Fit<Key>>): ReadonlyArray<Fit<Key>> => {
  const highest = new Map<Key, number>()
  for (const [key, confidence] of fits) highest.set(key, Math.max(confidence, highest.get(key) ?? 0))
  return [...highest]
}

/** The categories of one dimension that a subject fits. */
interface Fitting<Key extends string> {
  readonly dimension: Dimension
  readonly labelOf: (key: Key) => string
  readonly fits: ReadonlyArray<Fit<Key>>
}

const rows = <Key extends string>(
  id: string,
  { dimension, fits, labelOf }: Fitting<Key>
): ReadonlyArray<Classification> =>
  merged(fits).map(([key, confidence], rank) => ({
    assetCanonicalId: id as AssetCanonicalId,
    dimension,
    key,
    label: labelOf(key),
    confidence: confidence * 100,
    rank
  }))

/** The categories under which a table of `category: {symbol: percent}` lists a symbol. */
const listedUnder = <Key extends string>(
  table: Readonly<Partial<Record<Key, { readonly [symbol: string]: number | undefined }>>>,
  symbol: string
): ReadonlyArray<Fit<Key>> =>
  (Object.keys(table) as Array<Key>).flatMap((key) => {
    const confidence = table[key]?.[symbol]
    return confidence === undefined ? [] : [[key, confidence] as const]
  })

/** The four levels of a company's lines of business; a level above is as sure as the surest below it. */
const linesOfBusiness = (ticker: Equity) => {
  const subIndustry = equityIndustries[ticker]
  const industry = merged(subIndustry.map(([key, percent]) => [subIndustries[key][1], percent] as const))
  const industryGroup = merged(industry.map(([key, percent]) => [industries[key][1], percent] as const))
  const sector = merged(industryGroup.map(([key, percent]) => [industryGroups[key][1], percent] as const))
  return { subIndustry, industry, industryGroup, sector }
}

const ofEquity = ([ticker, , id]: (typeof equities)[number]): ReadonlyArray<Classification> => {
  const { industry, industryGroup, sector, subIndustry } = linesOfBusiness(ticker)
  const besides = alsoIn[ticker]
  const broad = sector.map(([key, percent]) => [platformSectorOf[key], percent] as const)
  return [
    ...rows(id, { dimension: "sector", labelOf: (key) => sectors[key], fits: sector }),
    ...rows(id, { dimension: "industryGroup", labelOf: (key) => industryGroups[key][0], fits: industryGroup }),
    ...rows(id, { dimension: "industry", labelOf: (key) => industries[key][0], fits: industry }),
    ...rows(id, { dimension: "subIndustry", labelOf: (key) => subIndustries[key][0], fits: subIndustry }),
    ...rows(id, {
      dimension: "platformSector",
      labelOf: (key) => platformSectors[key],
      fits: besides === undefined ? broad : [besides, ...broad]
    }),
    ...rows(id, {
      dimension: "platformTheme",
      labelOf: (key) => platformThemes[key],
      fits: listedUnder(shareThemes, ticker)
    })
  ]
}

const ofFund = ([ticker, , id]: (typeof funds)[number]): ReadonlyArray<Classification> => [
  ...rows(id, { dimension: "platformSector", labelOf: (key) => platformSectors[key], fits: [fundSectors[ticker]] }),
  ...rows(id, {
    dimension: "platformTheme",
    labelOf: (key) => platformThemes[key],
    fits: listedUnder(shareThemes, ticker)
  })
]

/** Coins, stablecoins and commodities have uses and themes, and one broad sector for all of a kind. */
const ofCurrency =
  (broad: Fit<keyof typeof platformSectors>) =>
  ([symbol, , id]: readonly [string, string, string]): ReadonlyArray<Classification> => [
    ...rows(id, {
      dimension: "cryptoCategory",
      labelOf: (key) => cryptoCategories[key],
      fits: listedUnder(cryptoUses, symbol)
    }),
    ...rows(id, { dimension: "platformSector", labelOf: (key) => platformSectors[key], fits: [broad] }),
    ...rows(id, {
      dimension: "platformTheme",
      labelOf: (key) => platformThemes[key],
      fits: listedUnder(currencyThemes, symbol)
    })
  ]

export const classifications: ReadonlyArray<Classification> = [
  ...equities.flatMap(ofEquity),
  ...funds.flatMap(ofFund),
  ...coins.flatMap(ofCurrency(["digital-assets", 99])),
  ...stablecoins.flatMap(ofCurrency(["cash", 98])),
  ...commodities.flatMap(ofCurrency(["precious-metals", 99]))
]
