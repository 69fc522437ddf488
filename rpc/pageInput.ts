/** The paging input of every list of procedures, as of lists over REST. */
import { Schema } from "effect"
import { integer } from "#domain/mandate/RebalancePolicy.ts"

export const pageInput = {
  /** Rows a page; 50 when left out. */
  limit: Schema.optionalKey(integer(1, 200, "Rows a page")),
  /** `nextCursor` of the page before. */
  cursor: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(512)).annotate({ examples: ["eyJsIjoic3RyYXRlZ2llcyJ9"] })
  )
}
