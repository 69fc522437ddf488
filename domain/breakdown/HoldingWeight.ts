/** The weight of a holding: an exact decimal in any unit, as wad. */
import { Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { fromText } from "#domain/values/fromText.ts"

const shape = /^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/

/** Writes wad with as many decimal places as it has, at most 18. */
export const format = (value: bigint): string => Decimal.format(value, 18).replace(/\.?0+$/, "")

/** A decimal string such as a fraction, a percentage or a value in dollars; below zero for a short holding. */
export const HoldingWeightFromString = fromText(Schema.BigInt, {
  expected: "a decimal string with at most 18 digits before and 18 after the point, negative for a short holding",
  pattern: shape,
  example: "0.6",
  parse: (text) => (shape.test(text) ? Decimal.parse(text) : undefined),
  format
})
