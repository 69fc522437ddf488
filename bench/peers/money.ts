/**
 * How the peer writes amounts: US dollars are integers of 18 decimal places, as viem's `parseUnits(text, 18)` gives
 * them.
 */

/** Six decimals, cut towards zero. */
export const usd = (wad: bigint): string => {
  const digits = (wad / 10n ** 12n).toString().padStart(7, "0")
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** A `numeric(48, 18)` column with two decimals, and up to six where it has them. */
export const threshold = (text: string): string => {
  const [whole, fraction = ""] = text.split(".")
  return `${whole}.${fraction
    .padEnd(6, "0")
    .slice(0, 6)
    .replace(/0{1,4}$/u, "")}`
}

/** Basis points as a percentage with two decimals. */
export const percent = (basisPoints: number): string => (basisPoints / 100).toFixed(2)
