/** A portfolio's name as people give it. Source: shapes 2.16. */
import { Schema } from "effect"

/** Most code points of a name, counted after trimming. */
const maxLength = 64

const allowed = /^[\p{L}\p{M}\p{N} \-_.':()&/]*$/u

/**
 * Decoding trims, then requires 1 to 64 code points out of letters, digits, space and `- _ . ' : ( ) & /` of any
 * script. A letter may carry combining marks, which several scripts cannot do without.
 */
export const PortfolioName = Schema.Trim.check(
  Schema.isBetweenCodePoints(1, maxLength, { expected: `1 to ${maxLength} characters after trimming` }),
  Schema.isPattern(allowed, { expected: "only letters, digits, spaces and - _ . ' : ( ) & /" })
)
export type PortfolioName = typeof PortfolioName.Type
