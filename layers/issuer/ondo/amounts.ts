/**
 * How many tokens of Ondo's a stablecoin buys, and what tokens bring, as the manager's contract counts: quantities and
 * prices have 18 decimals, and a US dollar is a whole stablecoin. Every rounding is against the one who pays. Pure.
 */
import * as Decimal from "#domain/Decimal.ts"

const scaleOf = (stableDecimals: number) => 10n ** BigInt(18 - stableDecimals)

/** The most tokens whose price is at most the amount. */
export const bought = (stableRaw: bigint, stableDecimals: number, price: bigint): bigint =>
  (stableRaw * scaleOf(stableDecimals) * Decimal.one) / price

/** What the tokens cost, in raw units of the stablecoin, rounded up. */
export const costOf = (quantity: bigint, stableDecimals: number, price: bigint): bigint => {
  const scale = scaleOf(stableDecimals) * Decimal.one
  return (quantity * price + scale - 1n) / scale
}

/** What the tokens bring, in raw units of the stablecoin, rounded down. */
export const broughtBy = (quantity: bigint, stableDecimals: number, price: bigint): bigint =>
  (quantity * price) / (scaleOf(stableDecimals) * Decimal.one)
