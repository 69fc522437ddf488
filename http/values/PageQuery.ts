/** The paging query of every list. Source: interface "Pagination (v2)". */
import { Schema } from "effect"
import { fromText, shown } from "#domain/values/fromText.ts"

const digits = /^[1-9][0-9]*$/u

/** Rows a page, in plain digits. */
export const limitUpTo = (maximum: number) =>
  fromText(Schema.Int, {
    expected: `a whole number from 1 to ${maximum}`,
    pattern: digits,
    example: "50",
    parse: (text) => (digits.test(text) && Number(text) <= maximum ? Number(text) : undefined),
    format: String
  })

export const pageQuery = {
  limit: Schema.optionalKey(limitUpTo(200)),
  cursor: Schema.optionalKey(
    Schema.String.check(shown({ maxLength: 512 })).annotate({
      description: "`nextCursor` of the page before, unchanged.",
      examples: ["eyJsIjoic3RyYXRlZ2llcyJ9"]
    })
  )
}
