/**
 * The body of routes that take none: nothing at all, or `{}`. Source: shapes 2.19 and 2.20.
 *
 * Endpoints with it set `disableCodecs`, because the JSON codec would read an absent body as `null`, and `null` is
 * refused. All their other schemas are plain JSON already.
 */
import { Schema } from "effect"

export const emptyBody = Schema.UndefinedOr(Schema.Record(Schema.String, Schema.Never)).annotate({
  description: "Nothing, or an empty object.",
  expected: "no body, or {}"
})
