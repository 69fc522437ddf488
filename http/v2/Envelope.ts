/** The envelope of every v2 answer. Tracing ids are never in it, they are headers. Source: interface "v2 envelope". */
import { Schema } from "effect"
import type { Page } from "#domain/values/Cursor.ts"
import { cursorText } from "#http/values/values.ts"

/** `{success: true, data}`. */
export const ok = <Data extends Schema.Top>(data: Data) => Schema.Struct({ success: Schema.Literal(true), data })

/** `{success: true, data, nextCursor}`; the cursor is null on the last page. */
export const page = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({
    success: Schema.Literal(true),
    data,
    nextCursor: Schema.NullOr(cursorText("An opaque position in the list.")).annotate({
      description: "Send it back unchanged as `cursor` to get the next page; null on the last page.",
      examples: [null]
    })
  })

/** Puts data into the envelope. */
export const success = <Data>(data: Data) => ({ success: true as const, data })

/** Puts a page of a collection into the envelope. */
export const successPage = <Data>(data: Data, { nextCursor }: Page<unknown>) => ({
  success: true as const,
  data,
  nextCursor
})
