/** Changes in percent, as integers of 18 decimal places (wad). */
import * as Decimal from "#domain/values/Decimal.ts"

/** Division that rounds to the nearest integer, and a half away from zero. The divisor is above zero. */
const divideRounded = (dividend: bigint, divisor: bigint): bigint =>
  dividend < 0n ? -((-dividend * 2n + divisor) / (divisor * 2n)) : (dividend * 2n + divisor) / (divisor * 2n)

/** Computes by how many percent `to` is above `from`, rounded at the eighteenth decimal; `from` is above zero. */
export const changeOf = (from: bigint, to: bigint): bigint => divideRounded((to - from) * 100n * Decimal.one, from)

const shownDecimals = 4
const hidden = 10n ** BigInt(18 - shownDecimals)

/** Writes a percentage with four decimals, rounded to the nearest. Source: interface "Discovery strategy item". */
export const formatPercent = (percent: bigint): string =>
  Decimal.format(divideRounded(percent, hidden) * hidden, shownDecimals)
