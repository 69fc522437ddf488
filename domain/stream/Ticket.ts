/**
 * Tickets: what a client requests to follow, and what a token lets it follow. Source: interface "Market-data stream
 * worker".
 */
import { Schema } from "effect"
import { PublicSymbol } from "#domain/stream/PublicAsset.ts"
import { AssetClass, CollectionNamespace, StreamSymbol } from "#domain/stream/Topic.ts"

const maxSymbols = 100

const AssetTarget = Schema.Struct({
  kind: Schema.Literal("asset"),
  assetClass: AssetClass,
  symbol: PublicSymbol,
  /** Collections whose feeds the token also opens, for this symbol; `true` for all that have the class. */
  collectionFeeds: Schema.optionalKey(
    Schema.NullOr(Schema.Union([Schema.Boolean, Schema.Array(CollectionNamespace).check(Schema.isMaxLength(3))]))
  )
})

const CollectionTarget = Schema.Struct({
  kind: Schema.Literal("collection"),
  assetClass: AssetClass,
  collection: CollectionNamespace,
  symbols: Schema.Array(PublicSymbol).check(Schema.isMinLength(1), Schema.isMaxLength(maxSymbols))
})

export const TicketTarget = Schema.Union([AssetTarget, CollectionTarget])
export type TicketTarget = typeof TicketTarget.Type

/** One topic that a token opens; of a collection, the events of `symbols` alone. */
export const TopicGrant = Schema.Struct({
  topic: Schema.String,
  symbols: Schema.Array(StreamSymbol).check(Schema.isMaxLength(maxSymbols))
})
export type TopicGrant = typeof TopicGrant.Type

/** The content of a token. Times are Unix seconds. */
export const TicketClaims = Schema.Struct({
  grants: Schema.Array(TopicGrant).check(Schema.isMaxLength(8)),
  issuedAt: Schema.Int,
  expiresAt: Schema.Int
})
export type TicketClaims = typeof TicketClaims.Type

export const Ticket = Schema.Struct({
  /** Where to connect: the worker's public address. */
  baseUrl: Schema.String,
  expiresInSeconds: Schema.Int,
  token: Schema.String,
  topics: Schema.Array(Schema.String)
})
export type Ticket = typeof Ticket.Type
