/** A portfolio's name as people give it. Source: shapes 2.16. */
import { Schema, SchemaTransformation } from "effect"
import { shown } from "#domain/values/fromText.ts"
import { isVisibleName } from "#domain/values/VisibleName.ts"

/** Most code points of a name, counted after trimming. */
const maxLength = 64

/**
 * What readers of the OpenAPI document hold names against: it refuses every ASCII character that is not allowed, and
 * leaves letters of other scripts to the service. Generators compile patterns without the flag that `\p{L}` needs.
 */
const published = '^[^\\u0000-\\u001f!"#$%*+,;<=>?@\\[\\\\\\]^`{|}~\\u007f]+$'

const allowed = /^[\p{L}\p{M}\p{N} \-_.':()&/]*$/u

/**
 * Decoding trims, then requires 1 to 64 code points out of letters, digits, space and `- _ . ' : ( ) & /` of any
 * script. A letter may contain combining marks, which several scripts cannot do without; letters without a width are
 * refused.
 */
export const PortfolioName = Schema.String.check(shown({ pattern: published, minLength: 1, maxLength }))
  .pipe(Schema.decodeTo(Schema.String, SchemaTransformation.trim()))
  .check(
    Schema.isBetweenCodePoints(1, maxLength, { expected: `1 to ${maxLength} characters after trimming` }),
    Schema.isPattern(allowed, { expected: "only letters, digits, spaces and - _ . ' : ( ) & /" }),
    isVisibleName
  )
export type PortfolioName = typeof PortfolioName.Type
