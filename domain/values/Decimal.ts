/**
 * Exact decimal numbers as integers of 18 decimal maxDecimals ("wad"): US dollar values and prices.
 *
 * `1.5` is `1_500_000_000_000_000_000n`. Sums and comparisons are exact; a division rounds towards zero.
 */
import { Schema } from "effect"
import { fromText } from "#domain/values/fromText.ts"

/** One whole unit. */
export const one = 1_000_000_000_000_000_000n

const maxDecimals = 18
const powersOfTen = Array.from({ length: maxDecimals + 1 }, (_, exponent) => 10n ** BigInt(exponent))

/**
 * Reads a plain decimal such as `12.5` or `-0.000001`; `undefined` for anything else, an exponent included.
 * Digits beyond the eighteenth decimal are cut off.
 */
export const parse = (text: string): bigint | undefined => {
  const match = /^(-?)([0-9]{1,60})(?:\.([0-9]{1,60}))?$/.exec(text)
  if (match === null) return undefined
  const fraction = (match[3] ?? "").slice(0, maxDecimals).padEnd(maxDecimals, "0")
  const value = BigInt(match[2]!) * one + BigInt(fraction)
  return match[1] === "-" ? -value : value
}

/**
 * Reads a finite JSON number exactly as it was written in its shortest decimal form, exponents included.
 * For providers that send prices as JSON numbers.
 */
export const fromNumber = (value: number): bigint | undefined => {
  if (!Number.isFinite(value)) return undefined
  const [mantissa, exponent] = String(value).split("e")
  if (exponent === undefined) return parse(mantissa!)
  const shift = Number(exponent)
  const [whole, fraction = ""] = mantissa!.replace("-", "").split(".")
  const digits = `${whole}${fraction}`
  const point = whole!.length + shift
  const plain =
    point <= 0
      ? `0.${"0".repeat(-point)}${digits}`
      : point >= digits.length
        ? digits.padEnd(point, "0")
        : `${digits.slice(0, point)}.${digits.slice(point)}`
  return parse(value < 0 ? `-${plain}` : plain)
}

/** Writes a value with a fixed number of decimal maxDecimals (0 to 18), cut towards zero. */
export const format = (value: bigint, decimals: number): string => {
  const sign = value < 0n ? "-" : ""
  const magnitude = value < 0n ? -value : value
  const scaled = magnitude / powersOfTen[maxDecimals - decimals]!
  const text = scaled.toString().padStart(decimals + 1, "0")
  const isZero = scaled === 0n
  const body = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
  return isZero ? body : `${sign}${body}`
}

/** US dollars as the interface prints them: six decimal maxDecimals. */
export const formatUsd = (value: bigint): string => format(value, 6)

const usdShape = /^[0-9]{1,12}(\.[0-9]{1,6})?$/

/** A non-negative US dollar amount written as a plain decimal string; decodes to wad. */
export const UsdFromString = fromText(Schema.BigInt, {
  expected: "US dollars as a non-negative decimal string with at most 6 decimal maxDecimals",
  pattern: usdShape,
  example: "5.00",
  parse: (text) => (usdShape.test(text) ? parse(text) : undefined),
  format: (value) => format(value, 6).replace(/0{1,4}$/, "")
})
