/**
 * Keyset cursors over `(createdAt, id)`: an opaque base64url string that names the list it was issued for and the last
 * row of the page. A cursor of another list is refused. Source: interface "Pagination (v2)".
 */
import { type DateTime, Effect, Schema } from "effect"
import { CursorInvalid } from "#domain/errors/Errors.ts"

/** Position after the last row of a page. */
export interface Cursor {
  readonly createdAt: DateTime.Utc
  readonly id: string
}

/** The paging part of a list's query string. */
export interface PageQuery {
  /** Rows a page; 50 when left out. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** A page request: how many rows, and after which. */
export interface PageRequest {
  readonly limit: number
  readonly after: Cursor | null
}

/** One page of a list and the cursor of the next one, `null` on the last. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | null
}

const Wire = Schema.StringFromBase64Url.pipe(
  Schema.decodeTo(
    Schema.fromJsonString(
      Schema.Struct({
        l: Schema.String,
        c: Schema.DateTimeUtcFromString,
        i: Schema.String.check(Schema.isBetweenLength(1, 64))
      })
    )
  )
)
const decodeWire = Schema.decodeUnknownEffect(Wire)
const encodeWire = Schema.encodeSync(Wire)

/** Writes the cursor of a list. */
export const encode = (list: string, cursor: Cursor): string =>
  encodeWire({ l: list, c: cursor.createdAt, i: cursor.id })

/** Reads a cursor that must have been issued for `list`. */
const decode = Effect.fnUntraced(function* (list: string, text: string) {
  const malformed = new CursorInvalid({
    message: "The cursor is malformed or was issued for another list; send nextCursor of the previous page unchanged",
    details: ["cursor: not a cursor of this list"]
  })
  if (text.length > 512) return yield* malformed
  const wire = yield* Effect.mapError(decodeWire(text), () => malformed)
  if (wire.l !== list) return yield* malformed
  return { createdAt: wire.c, id: wire.i } satisfies Cursor
})

/** Reads the paging query of a list. */
export const pageRequest = Effect.fnUntraced(function* (list: string, query: PageQuery) {
  const after = query.cursor === undefined ? null : yield* decode(list, query.cursor)
  return { limit: query.limit ?? 50, after } satisfies PageRequest
})

/** What was read for a page of a list: one row more than its limit when there is a next page. */
export interface ReadRows<A> {
  readonly list: string
  readonly limit: number
  readonly rows: ReadonlyArray<A>
}

/** Cuts what was read to a page. */
export const page = <A>({ limit, list, rows }: ReadRows<A>, key: (row: A) => Cursor): Page<A> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encode(list, key(last)) : null }
}
