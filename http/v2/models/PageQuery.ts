/** The paging query of every list. Source: interface "Pagination (v2)". */
import { Schema } from "effect"

const Limit = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 200 }))

export const pageQuery = {
  limit: Schema.optionalKey(Limit),
  cursor: Schema.optionalKey(
    Schema.String.annotate({
      description: "`nextCursor` of the page before, unchanged.",
      examples: ["eyJsIjoic3RyYXRlZ2llcyJ9"]
    })
  )
}
