/**
 * Search of listed tokens, and of tokenized shares beside them. Source: interface "Public asset procedures";
 * docs/decisions/0122.
 */
import { Context, Effect, Layer } from "effect"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import type { AssetSnapshot } from "#domain/listing/AssetSnapshot.ts"
import { isAddress, isSpelledAs, normalizeKey } from "#domain/listing/AssetKey.ts"
import type { AssetItem, SearchRow } from "#domain/listing/AssetModels.ts"
import { IssuerPolicies } from "#domain/listing/IssuerPolicies.ts"
import type { Listing } from "#domain/listing/Listing.ts"
import {
  contextOf,
  type Jurisdiction,
  restrictedAmong,
  type Restriction,
  type RestrictionContext
} from "#domain/listing/restrictions.ts"

export interface SearchQuery {
  readonly q: string
  readonly limit: number
  /** Chains on which generic tokens are searched; all when left out or empty. */
  readonly chainFilter?: ReadonlyArray<number> | undefined
  /** Chains that shares may be on; all when left out or empty. */
  readonly stockChainFilter?: ReadonlyArray<number> | undefined
}

/** What was found, and what of it a person may not buy from where they are. */
export interface SearchAnswer {
  readonly items: ReadonlyArray<SearchRow>
  /** Restrictions by id; what may be bought is absent. */
  readonly restrictedAssetsMap: Readonly<Record<string, Restriction>>
  readonly restrictionContext: RestrictionContext
}

const isOn = (chains: ReadonlyArray<number> | undefined) => {
  const wanted = chains === undefined || chains.length === 0 ? undefined : new Set(chains)
  return ({ chainId }: Listing) => wanted === undefined || wanted.has(chainId)
}

function* listingsAt({ ranked }: AssetSnapshot, positions: Iterable<number>): Generator<Listing> {
  for (const position of positions) yield ranked[position]!
}

/**
 * All that a text finds, in the generic order: an id or address exactly, anything else by how well it fits, then by
 * rank.
 */
const found = (snapshot: AssetSnapshot, q: string): Iterable<Listing> => {
  const text = q.trim()
  const key = normalizeKey(text)
  if (key !== undefined) {
    const listing = snapshot.byId.get(key)
    return listing === undefined ? [] : [listing]
  }
  if (isAddress(text)) {
    const there = snapshot.byAddress.get(text.toLowerCase()) ?? []
    return there.filter(({ address }) => isSpelledAs(address, text))
  }
  return listingsAt(snapshot, snapshot.text.find(text))
}

/** The first `limit` that fit; the rest is not searched. */
const firstOf = <A>(items: Iterable<A>, limit: number, fits: (item: A) => boolean): ReadonlyArray<A> => {
  const first: Array<A> = []
  if (limit === 0) return first
  for (const item of items) {
    if (fits(item)) first.push(item)
    if (first.length === limit) break
  }
  return first
}

/** Tokens in the generic order, then shares while there is room. What is both is there once, where the token was. */
const paletteListings = (snapshot: AssetSnapshot, query: SearchQuery): ReadonlyArray<Listing> => {
  const { chainFilter, limit, q, stockChainFilter } = query
  const onChain = isOn(chainFilter)
  const onStockChain = isAddress(q.trim()) ? () => true : isOn(stockChainFilter)
  const isStock = ({ ticker }: Listing) => ticker !== null
  const tokens = firstOf(
    found(snapshot, q),
    limit,
    (listing) => onChain(listing) && (!isStock(listing) || onStockChain(listing))
  )
  const seen = new Set(tokens.map(({ assetId }) => assetId))
  const stocks = firstOf(
    found(snapshot, q),
    limit - tokens.length,
    (listing) => isStock(listing) && onStockChain(listing) && !seen.has(listing.assetId)
  )
  return [...tokens, ...stocks]
}

/** A row is made when it is found first, and kept as long as its item. */
const rowOnce = (make: (snapshot: AssetSnapshot, listing: Listing) => SearchRow) => {
  const rows = new WeakMap<AssetItem, SearchRow>()
  return (snapshot: AssetSnapshot, listing: Listing): SearchRow => {
    const item = snapshot.itemOf(listing)
    const known = rows.get(item)
    if (known !== undefined) return known
    const row = make(snapshot, listing)
    rows.set(item, row)
    return row
  }
}

const make = Effect.gen(function* () {
  const index = yield* AssetIndex
  const issuers = yield* IssuerPolicies

  const tokenRow = rowOnce((snapshot, listing) => ({
    type: "token",
    ...snapshot.itemOf(listing),
    ticker: null,
    companyName: null,
    tags: [],
    isVerifiedByGlider: listing.asset.subject !== null
  }))

  const stockRow = rowOnce((snapshot, listing) => ({
    ...tokenRow(snapshot, listing),
    type: "stock",
    ...snapshot.stockItemOf(snapshot.stocks.get(listing.assetId)!)
  }))

  const richRow = (snapshot: AssetSnapshot, listing: Listing): SearchRow =>
    (snapshot.stocks.has(listing.assetId) ? stockRow : tokenRow)(snapshot, listing)

  const answer = (
    listings: ReadonlyArray<Listing>,
    toRow: (listing: Listing) => SearchRow,
    jurisdiction: Jurisdiction
  ): SearchAnswer => ({
    items: listings.map(toRow),
    restrictedAssetsMap: restrictedAmong(listings, jurisdiction, issuers),
    restrictionContext: contextOf(jurisdiction, issuers)
  })

  return {
    forCommandPalette: (query: SearchQuery, jurisdiction: Jurisdiction) => {
      const snapshot = index.current()
      return answer(paletteListings(snapshot, query), (listing) => richRow(snapshot, listing), jurisdiction)
    },
    forTokens: ({ chainFilter, limit, q }: SearchQuery, jurisdiction: Jurisdiction) => {
      const snapshot = index.current()
      const listings = firstOf(found(snapshot, q), limit, isOn(chainFilter))
      return answer(listings, (listing) => tokenRow(snapshot, listing), jurisdiction)
    }
  }
})

/**
 * Search of listed tokens and shares.
 *
 * **When to use**
 *
 * Use in public procedures with a text to search for.
 */
export class AssetSearch extends Context.Service<
  AssetSearch,
  {
    /** Tokens, then shares while there is room. */
    readonly forCommandPalette: (query: SearchQuery, jurisdiction: Jurisdiction) => SearchAnswer
    readonly forTokens: (query: SearchQuery, jurisdiction: Jurisdiction) => SearchAnswer
  }
>()("ballast/domain/listing/AssetSearch") {
  static readonly layer = Layer.effect(AssetSearch, make)
}
