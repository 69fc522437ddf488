/**
 * Topics of the market-data stream: `asset:{assetClass}:{SYMBOL}:{feedKind}:{resolution}` and
 * `collection:{namespace}:{name}`. Source: interface "Market-data stream worker" (topics).
 */
import { Schema } from "effect"

export const AssetClass = Schema.Literals(["equity", "crypto"])
export type AssetClass = typeof AssetClass.Type

const symbolShape = /^[A-Z0-9][A-Z0-9.-]{0,19}$/u

/** A ticker in upper case: 1 to 20 letters, digits, dots and hyphens. */
export const StreamSymbol = Schema.String.check(
  Schema.isPattern(symbolShape, { expected: "a symbol of 1 to 20 upper-case letters, digits, dots and hyphens" })
)

/** What is streamed of an asset, and whether a client that falls behind may be given the latest alone. */
export interface Feed {
  readonly feedKind: "ohlcv" | "quote"
  readonly resolution: "1s" | "tick"
  /** A quote replaces the one before it; a bar does not, since each covers a second of its own. */
  readonly isConflatable: boolean
}

/** The one feed of each asset class. */
export const feeds: Readonly<Record<AssetClass, Feed>> = {
  equity: { feedKind: "ohlcv", resolution: "1s", isConflatable: false },
  crypto: { feedKind: "quote", resolution: "tick", isConflatable: true }
}

export const CollectionNamespace = Schema.Literals(["stocks", "crypto", "watchlist"])
export type CollectionNamespace = typeof CollectionNamespace.Type

/** The asset class whose events a collection contains. */
export const collectionClass: Readonly<Record<CollectionNamespace, AssetClass>> = {
  stocks: "equity",
  crypto: "crypto",
  watchlist: "equity"
}

/** The collections that contain the events of a class. */
export const collectionsOf = (assetClass: AssetClass): ReadonlyArray<CollectionNamespace> =>
  CollectionNamespace.literals.filter((namespace) => collectionClass[namespace] === assetClass)

export interface AssetTopic {
  readonly kind: "asset"
  readonly assetClass: AssetClass
  readonly symbol: string
}

export interface CollectionTopic {
  readonly kind: "collection"
  readonly assetClass: AssetClass
  readonly namespace: CollectionNamespace
}

export type Topic = AssetTopic | CollectionTopic

/** Names an asset of the stream: `equity:TSLA`. */
export type StreamAssetKey = `${AssetClass}:${string}`

export const assetKey = (assetClass: AssetClass, symbol: string): StreamAssetKey => `${assetClass}:${symbol}`

export const assetTopic = (assetClass: AssetClass, symbol: string): AssetTopic => ({
  kind: "asset",
  assetClass,
  symbol
})

export const collectionTopic = (namespace: CollectionNamespace): CollectionTopic => ({
  kind: "collection",
  assetClass: collectionClass[namespace],
  namespace
})

/** The topic's name on the wire. */
export const nameOf = (topic: Topic): string => {
  if (topic.kind === "collection") return `collection:${topic.namespace}:default`
  const { feedKind, resolution } = feeds[topic.assetClass]
  return `asset:${topic.assetClass}:${topic.symbol}:${feedKind}:${resolution}`
}

const isAssetClass = Schema.is(AssetClass)
const isNamespace = Schema.is(CollectionNamespace)

/** Reads a topic's name; `undefined` for one that this service does not have. */
export const parseTopic = (name: string): Topic | undefined => {
  const [kind, first = "", second = "", feedKind, resolution, ...rest] = name.split(":")
  if (rest.length > 0) return undefined
  if (kind === "collection") {
    const isKnown = isNamespace(first) && second === "default" && feedKind === undefined
    return isKnown ? collectionTopic(first) : undefined
  }
  if (kind !== "asset" || !isAssetClass(first) || !symbolShape.test(second)) return undefined
  const feed = feeds[first]
  return feed.feedKind === feedKind && feed.resolution === resolution ? assetTopic(first, second) : undefined
}
