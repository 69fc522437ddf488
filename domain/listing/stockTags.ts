/** The groups by which tokenized shares are browsed. Source: docs/decisions/0122. */
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import type { TagGroups } from "#domain/listing/AssetModels.ts"
import type { Listing } from "#domain/listing/Listing.ts"
import type { MarketView } from "#domain/listing/MarketView.ts"

/** US dollars of market capitalisation from which a company is of a size. */
const sizes = [
  ["mega", 200e9],
  ["large", 10e9],
  ["mid", 2e9],
  ["small", 300e6],
  ["micro", 0]
] as const

const keysOf = ({ categories }: ListedAsset, dimension: string): ReadonlyArray<string> =>
  categories.filter((category) => category.dimension === dimension).map(({ key }) => key)

/** Massive's code of a depositary receipt on common shares. */
const receipt = "ADRC"

/** A group is empty where nothing is known: an unknown size is none. */
export const tagsOf = (listing: Listing, view: MarketView): TagGroups => {
  const { asset, home, ticker } = listing
  const details = ticker === null ? undefined : view.detailsOf(ticker)
  const cap = view.capOf(listing)
  const size = cap === null || asset.subject?.kind !== "equity" ? undefined : sizes.find(([, from]) => cap >= from)
  return {
    type: asset.subject?.kind === "etf" ? ["etf"] : details?.typeCode === receipt ? ["stock", "adr"] : ["stock"],
    sector: keysOf(asset, "platformSector"),
    style: keysOf(asset, "platformTheme"),
    cap: size === undefined ? [] : [size[0]],
    region: home === null ? [] : [home.region]
  }
}
