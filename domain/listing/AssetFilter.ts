/** Which listings a request means. */
import type { AssetSnapshot, RankedStock } from "#domain/listing/AssetSnapshot.ts"
import { type TagGroup, tagGroups } from "#domain/listing/AssetModels.ts"
import type { Listing } from "#domain/listing/Listing.ts"

/** Filters of assets. One at least is there; all that are must fit. */
export interface AssetFilter {
  readonly issuerSlug?: string | undefined
  readonly exposureCategory?: string | undefined
  readonly exposureSlug?: string | undefined
}

/** Listings that fit, ranked: the shortest of the lists that a filter names, less what the other filters exclude. */
export const filtered = (snapshot: AssetSnapshot, filter: AssetFilter): ReadonlyArray<Listing> => {
  const { exposureCategory, exposureSlug, issuerSlug } = filter
  const lists = [
    issuerSlug === undefined ? undefined : (snapshot.byIssuer.get(issuerSlug) ?? []),
    exposureSlug === undefined ? undefined : (snapshot.byExposure.get(exposureSlug) ?? []),
    exposureCategory === undefined ? undefined : (snapshot.byCategory.get(exposureCategory) ?? [])
  ].filter((list) => list !== undefined)
  if (lists.length === 0) return []
  const shortest = lists.reduce((a, b) => (b.length < a.length ? b : a))
  if (lists.length === 1) return shortest
  return shortest.filter(
    ({ asset, exposureSlugs, taxonomy }) =>
      (issuerSlug === undefined || asset.issuer === issuerSlug) &&
      (exposureSlug === undefined || exposureSlugs.has(exposureSlug)) &&
      (exposureCategory === undefined || taxonomy.exposureCategories.includes(exposureCategory))
  )
}

/** The tokenized shares among them. */
export const filteredStocks = (snapshot: AssetSnapshot, filter: AssetFilter): ReadonlyArray<RankedStock> =>
  filtered(snapshot, filter).flatMap(({ assetId }) => snapshot.stocks.get(assetId) ?? [])

/** Tags by group; within a group any will do, and each group that names some must fit. */
export type TagFilters = { readonly [Group in TagGroup]?: ReadonlyArray<string> | undefined }

const fits = ({ tags }: RankedStock, filters: TagFilters, except?: TagGroup): boolean =>
  tagGroups.every((group) => {
    const wanted = filters[group]
    if (group === except || wanted === undefined || wanted.length === 0) return true
    return tags[group].some((tag) => wanted.includes(tag))
  })

export const withTags = (stocks: ReadonlyArray<RankedStock>, filters: TagFilters): ReadonlyArray<RankedStock> =>
  stocks.filter((stock) => fits(stock, filters))

export interface TagCount {
  readonly tag: string
  readonly count: number
}

export type TagCounts = Readonly<Record<TagGroup, ReadonlyArray<TagCount>>>

/** How many shares each tag would leave, given the tags of the other groups; the most first. */
export const countTags = (stocks: ReadonlyArray<RankedStock>, filters: TagFilters): TagCounts => {
  const countsOf = (group: TagGroup): ReadonlyArray<TagCount> => {
    const counts = new Map<string, number>()
    for (const stock of stocks) {
      if (!fits(stock, filters, group)) continue
      for (const tag of stock.tags[group]) counts.set(tag, (counts.get(tag) ?? 0) + 1)
    }
    return [...counts]
      .map(([tag, count]) => ({ tag, count }))
      .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
  }
  return {
    type: countsOf("type"),
    sector: countsOf("sector"),
    style: countsOf("style"),
    cap: countsOf("cap"),
    region: countsOf("region")
  }
}

export interface ListingPage<A> {
  readonly items: ReadonlyArray<A>
  /** Where the next page begins; null after the last. */
  readonly nextCursor: number | null
}

/** A cursor is a position in the ranked list. It may come to mean another position when the ranking changes. */
export const pageOf = <A>(all: ReadonlyArray<A>, limit: number, cursor: number): ListingPage<A> => ({
  items: all.slice(cursor, cursor + limit),
  nextCursor: cursor + limit < all.length ? cursor + limit : null
})
