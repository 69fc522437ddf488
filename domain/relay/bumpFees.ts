/** What a transaction must offer to take the place of one with the same nonce. */

/** Wei for a unit of gas. Source: EIP-1559. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Nodes take a replacement for 10 percent more in both fields, some for 12.5; rounded up, and always above. */
const raised = (fee: bigint): bigint => {
  const more = (fee * 9n + 7n) / 8n
  return more > fee ? more : fee + 1n
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/**
 * Both fields an eighth higher than those offered before, and not lower than the chain's current fees; null when the
 * highest fee that may be paid does not allow it.
 */
export const bumpFees = (offered: Fees, current: Fees, ceiling: bigint): Fees | null => {
  const maxPriorityFeePerGas = larger(raised(offered.maxPriorityFeePerGas), current.maxPriorityFeePerGas)
  const least = larger(raised(offered.maxFeePerGas), maxPriorityFeePerGas)
  if (least > ceiling) return null
  const wanted = larger(least, current.maxFeePerGas)
  return { maxFeePerGas: wanted < ceiling ? wanted : ceiling, maxPriorityFeePerGas }
}
