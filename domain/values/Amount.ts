/**
 * Token amounts in raw units: the integer that the token contract counts in, `10 ** decimals` to the whole token.
 */

/**
 * A raw amount as a decimal string of whole tokens: full precision, trailing zeros trimmed (`1500500000` at 6 is
 * `1500.5`).
 */
export const format = (raw: bigint, decimals: number): string => {
  if (decimals === 0) return raw.toString()
  const text = raw.toString().padStart(decimals + 1, "0")
  const fraction = text.slice(-decimals).replace(/0+$/, "")
  const whole = text.slice(0, -decimals)
  return fraction === "" ? whole : `${whole}.${fraction}`
}

/** Value in US dollars (wad) of a raw amount at a price in US dollars (wad) for one whole token; cut towards zero. */
export const valueUsd = (raw: bigint, decimals: number, priceUsd: bigint): bigint =>
  (raw * priceUsd) / 10n ** BigInt(decimals)

/** The raw amount that a value in US dollars (wad) buys at a price (wad, above zero); cut towards zero. */
export const fromUsd = (valueUsd: bigint, decimals: number, priceUsd: bigint): bigint =>
  (valueUsd * 10n ** BigInt(decimals)) / priceUsd
