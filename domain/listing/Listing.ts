/** One token of the catalogue with all of it that does not change with the market. */
import type { Home, SubjectFacts } from "#domain/asset/SubjectFacts.ts"
import type { ListedAsset } from "#domain/asset/ListedAssets.ts"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { type AssetKey, keyPartsOf } from "#domain/listing/AssetKey.ts"
import { type AssetMetadata, type Exposure, type Taxonomy, tokenTypeOf } from "#domain/listing/AssetModels.ts"
import type { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"

export interface Listing {
  readonly assetId: AssetKey
  readonly caipAssetId: AssetId
  readonly chainId: ChainId
  readonly address: string
  readonly asset: ListedAsset
  readonly taxonomy: Taxonomy
  /** Metadata without a logo, which comes from market data. */
  readonly metadata: AssetMetadata
  readonly coinId: string | null
  /** Ticker of a share or fund that an issuer has tokenized. */
  readonly ticker: string | null
  readonly home: Home | null
  /** Slugs of all exposures, for filters. */
  readonly exposureSlugs: ReadonlySet<string>
}

const isShare = ({ subject }: ListedAsset): boolean => subject?.kind === "equity" || subject?.kind === "etf"

/** What a category of the catalogue is called among exposures. */
const exposureCategoryOf = {
  platformSector: "sector",
  platformTheme: "theme",
  cryptoCategory: "crypto-category"
} as const

const exposuresOf = (asset: ListedAsset, slug: string): ReadonlyArray<Exposure> => {
  const { categories, subject } = asset
  if (subject === null) return []
  const own = { slug, name: subject.name, category: subject.kind }
  const others = categories.flatMap(({ dimension, key, label }): ReadonlyArray<Exposure> => {
    if (dimension !== "platformSector" && dimension !== "platformTheme" && dimension !== "cryptoCategory") return []
    return [{ slug: key, name: label, category: exposureCategoryOf[dimension] }]
  })
  return [own, ...others]
}

/**
 * The slug of a subject: its symbol in lower case. Shares and coins have their symbols from different worlds; where a
 * coin has that of a share, its kind is added.
 */
const subjectSlugs = (assets: ReadonlyArray<ListedAsset>): ((asset: ListedAsset) => string) => {
  const ofShares = new Set(assets.filter(isShare).map(({ subject }) => subject!.symbol.toLowerCase()))
  return (asset) => {
    const symbol = (asset.subject?.symbol ?? asset.symbol).toLowerCase()
    return isShare(asset) || !ofShares.has(symbol) ? symbol : `${symbol}-${asset.subject?.kind ?? "token"}`
  }
}

export const makeListings = (
  assets: ReadonlyArray<ListedAsset>,
  facts: SubjectFacts["Service"],
  issuers: IssuerPolicies["Service"]
): ReadonlyArray<Listing> => {
  const slugOf = subjectSlugs(assets)
  return assets.map((asset): Listing => {
    const { caipAssetId, decimals, issuer, name, subject, symbol } = asset
    const { address, assetId, chainId } = keyPartsOf(caipAssetId)
    const exposures = exposuresOf(asset, slugOf(asset))
    const isTokenizedEquity = isShare(asset) && issuer !== null
    return {
      assetId,
      caipAssetId,
      chainId,
      address,
      asset,
      taxonomy: {
        issuer: issuer === null ? null : { slug: issuer, name: issuers.of(issuer)?.name ?? issuer },
        exposures,
        primaryExposure: exposures[0] ?? null,
        exposureCategories: [...new Set(exposures.map(({ category }) => category))],
        isTokenizedEquity
      },
      metadata: {
        symbol,
        name,
        decimals,
        chainId,
        address,
        caipAssetId,
        logoUrl: null,
        tokenType: tokenTypeOf(caipAssetId)
      },
      coinId: subject === null ? null : (facts.coinIdOf(subject) ?? null),
      ticker: isTokenizedEquity ? subject!.symbol : null,
      home: subject === null ? null : (facts.homeOf(subject) ?? null),
      exposureSlugs: new Set(exposures.map(({ slug }) => slug))
    }
  })
}
