/**
 * Target weights of an allocation: percent with up to two decimals on the wire, basis points inside.
 *
 * `"33.33"` is `3333`. An allocation sums to exactly 10,000 basis points.
 */
import { Schema } from "effect"
import { fromText } from "#domain/values/fromText.ts"

/** 100 percent, in basis points. */
export const full = 10_000

/** Writes basis points as a percentage with two decimals. */
export const format = (basisPoints: number): string =>
  `${Math.floor(basisPoints / 100)}.${String(basisPoints % 100).padStart(2, "0")}`

const shape = /^(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,2}))?$/

/** Reads a percentage above zero and at most 100; `undefined` for anything else. */
const parse = (percent: string): number | undefined => {
  const match = shape.exec(percent)
  if (match === null) return undefined
  const basisPoints = Number(match[1]) * 100 + Number((match[2] ?? "").padEnd(2, "0"))
  return basisPoints > 0 && basisPoints <= full ? basisPoints : undefined
}

/** A percentage string that decodes to integer basis points (1 to 10,000). */
export const WeightFromString = fromText(Schema.Int, {
  expected: "a percentage string above 0 and at most 100, with up to 2 decimals",
  pattern: shape,
  example: "100.00",
  parse,
  format
})
