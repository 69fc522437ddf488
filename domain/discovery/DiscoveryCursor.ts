/**
 * Cursors of discovery: an opaque base64url string that names the collection, for `top_performing` the sort too, and
 * the last item of the page. Source: interface "GET /v2/discovery/strategies", rules 1 and 3.
 */
import { Effect, Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Collection } from "#domain/discovery/Collection.ts"
import { Sort } from "#domain/discovery/Sort.ts"
import { CursorInvalid } from "#domain/errors/Errors.ts"
import { fromText } from "#domain/values/fromText.ts"
import { StrategyId } from "#domain/values/Ids.ts"

/** Position after an item of the curated collection: its position in the editorial order. */
export interface CuratedPosition {
  readonly collection: "curated"
  readonly position: number
}

/** Position after an item of a ranking: what it was ranked by (wad, counts too; null is last), then its id. */
export interface RankedPosition {
  readonly collection: "top_performing"
  readonly sort: Sort
  readonly value: bigint | null
  readonly strategyId: StrategyId
}

export type DiscoveryPosition = CuratedPosition | RankedPosition

const Wad = fromText(Schema.BigInt, {
  expected: "a decimal number",
  pattern: /^-?[0-9]{1,60}(\.[0-9]{1,60})?$/,
  example: "1520.5",
  parse: Decimal.parse,
  format: (value) => Decimal.format(value, 18)
})

const Wire = Schema.Union([
  Schema.Struct({
    l: Schema.Literal("discovery"),
    k: Schema.Literal("curated"),
    p: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  }),
  Schema.Struct({
    l: Schema.Literal("discovery"),
    k: Schema.Literal("top_performing"),
    s: Sort,
    v: Schema.NullOr(Wad),
    i: StrategyId
  })
])
const Text = Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(Wire)))
const decodeText = Schema.decodeUnknownEffect(Text)
const encodeText = Schema.encodeSync(Text)

const longest = 512

const invalid = (details: string) =>
  new CursorInvalid({
    message:
      "The cursor is malformed or was issued for another collection; send nextCursor of the previous page unchanged",
    details: [details]
  })

/** Writes a position. */
export const encodePosition = (position: DiscoveryPosition): string =>
  encodeText(
    position.collection === "curated"
      ? { l: "discovery", k: "curated", p: position.position }
      : { l: "discovery", k: "top_performing", s: position.sort, v: position.value, i: position.strategyId }
  )

/** Reads a cursor that must have been issued for `collection`. */
export const decodePosition = Effect.fnUntraced(function* <C extends Collection>(collection: C, text: string) {
  if (text.length > longest) return yield* invalid("cursor: not a cursor of discovery")
  const wire = yield* Effect.mapError(decodeText(text), () => invalid("cursor: not a cursor of discovery"))
  const position: DiscoveryPosition =
    wire.k === "curated"
      ? { collection: wire.k, position: wire.p }
      : { collection: wire.k, sort: wire.s, value: wire.v, strategyId: wire.i }
  if (position.collection !== collection)
    return yield* invalid(`cursor: issued for the collection ${position.collection}, not ${collection}`)
  return position as Extract<DiscoveryPosition, { readonly collection: C }>
})
