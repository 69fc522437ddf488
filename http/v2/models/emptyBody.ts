/** The body of routes that take none: nothing at all, or `{}`. Source: shapes 2.19 and 2.20. */
import { Schema } from "effect"

export const emptyBody = Schema.UndefinedOr(Schema.Record(Schema.String, Schema.Never)).annotate({
  description: "Nothing, or an empty object.",
  message: "Expected no body or {}"
})
