/** Figures of market data: decimal strings without trailing zeros, so that no reader has to trust binary fractions. */
import { Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"

/** A plain decimal such as `"1234.5"` or `"-0.02"`, at most 18 decimals. */
export const Figure = Schema.String.check(Schema.isPattern(/^-?[0-9]{1,60}(\.[0-9]{1,18})?$/u))

/** Null: the provider did not say. Never zero in place of what is not known. */
export const MaybeFigure = Schema.NullOr(Figure)

/** Writes a value (wad) without trailing zeros. */
export const figure = (value: bigint): string => {
  const text = Decimal.format(value, 18).replace(/\.?0+$/u, "")
  return text === "-0" || text === "" ? "0" : text
}

/** A provider's number, or number in a string, as a figure; null for anything else. */
export const figureOf = (value: unknown): string | null => {
  if (typeof value === "number") {
    const wad = Decimal.fromNumber(value)
    return wad === undefined ? null : figure(wad)
  }
  if (typeof value !== "string") return null
  const wad =
    Decimal.parse(value.trim()) ??
    (/^-?[0-9.]+e[+-]?[0-9]+$/iu.test(value) ? Decimal.fromNumber(Number(value)) : undefined)
  return wad === undefined ? null : figure(wad)
}

/** A positive figure: a price of zero means that the provider has none. */
export const priceOf = (value: unknown): string | null => {
  const text = figureOf(value)
  return text === null || text === "0" || text.startsWith("-") ? null : text
}
