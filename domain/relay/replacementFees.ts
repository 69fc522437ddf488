/**
 * What a transaction must offer to take the place of one with the same nonce, and whether it has to: fees rise only
 * because the market's do. Source: EIP-1559.
 */

/** Wei for a unit of gas that a transaction offers. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Wei for a unit of gas that the chain takes now. */
export interface MarketFees {
  /** The next block's. */
  readonly baseFeePerGas: bigint
  /** The tip of what the latest blocks included. */
  readonly tip: bigint
}

/**
 * - `Sufficient`: what is offered would be taken now, so the same bytes are sent again.
 * - `AboveCeiling`: what would be taken is above the highest fee that is paid on the chain.
 * - `AboveLimit`: it is above what this transaction may cost.
 * - `Bump`: the fees of a replacement.
 */
export type FeeBump =
  | { readonly _tag: "Sufficient" }
  | { readonly _tag: "AboveCeiling" }
  | { readonly _tag: "AboveLimit" }
  | { readonly _tag: "Bump"; readonly fees: Fees }

/** Nodes take a replacement for 10 percent more in both fields, some for 12.5; rounded up, and always above. */
const raised = (fee: bigint): bigint => {
  const more = (fee * 9n + 7n) / 8n
  return more > fee ? more : fee + 1n
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** What a new transaction offers: twice the base fee, which lasts six full blocks of rise, and the tip. */
export const feesAt = ({ baseFeePerGas, tip }: MarketFees, ceiling: bigint): Fees => {
  const maxFeePerGas = smaller(2n * baseFeePerGas + tip, ceiling)
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) }
}

/** Whether a block includes a transaction that offers these fees, as the latest blocks included others. */
const wouldBeTaken = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, { baseFeePerGas, tip }: MarketFees): boolean =>
  maxFeePerGas >= baseFeePerGas && smaller(maxPriorityFeePerGas, maxFeePerGas - baseFeePerGas) >= tip

/** The highest fees for a unit of gas: on the chain, and of one transaction where it has a limit of its own. */
export interface FeeLimits {
  readonly ceiling: bigint
  readonly limit: bigint | null
}

/**
 * What to offer instead: both fields an eighth higher, and not lower than what the market asks. `isRefused` says that
 * every node refused the fees as too low, whatever the market shows.
 */
export const replacementFees = (
  offered: Fees,
  market: MarketFees,
  { ceiling, isRefused, limit }: FeeLimits & { readonly isRefused: boolean }
): FeeBump => {
  if (!isRefused && wouldBeTaken(offered, market)) return { _tag: "Sufficient" }
  const maxPriorityFeePerGas = larger(raised(offered.maxPriorityFeePerGas), market.tip)
  const least = larger(larger(raised(offered.maxFeePerGas), maxPriorityFeePerGas), market.baseFeePerGas + market.tip)
  if (least > ceiling) return { _tag: "AboveCeiling" }
  if (limit !== null && least > limit) return { _tag: "AboveLimit" }
  const wanted = larger(least, 2n * market.baseFeePerGas + market.tip)
  return {
    _tag: "Bump",
    fees: { maxFeePerGas: smaller(wanted, smaller(ceiling, limit ?? ceiling)), maxPriorityFeePerGas }
  }
}
