/** The paging input of every list of procedures, as of lists over REST. */
import { Schema } from "effect"

export const pageInput = {
  /** Rows a page; 50 when left out. */
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))),
  /** `nextCursor` of the page before. */
  cursor: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(512)))
}
