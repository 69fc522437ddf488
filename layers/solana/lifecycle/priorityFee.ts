/** What is paid for inclusion in a block: a price for each compute unit that the transaction may use. */

export interface FeePolicy {
  /** Which of the recent prices is paid, 0 to 100: at 75 three of four recent blocks required less. */
  readonly percentile: number
  /** Most lamports that one transaction pays on top of its signatures' fee. */
  readonly maxPriorityLamports: bigint
}

const microLamports = 1_000_000n
/** Lamports for each signature. */
export const signatureLamports = 5_000n
export const unitsOfATransaction = 1_400_000

/**
 * The unit limit for what a simulation used: a fifth more, since state moves until the block, within the chain's
 * limit.
 */
export const unitLimitFor = (simulatedUnits: number): number =>
  Math.min(unitsOfATransaction, Math.ceil((simulatedUnits * 12) / 10) + 5_000)

/** Lamports that so many units cost at a price in millionths of a lamport: as the chain rounds, up. */
export const priorityLamports = (units: bigint, unitPrice: bigint): bigint =>
  (units * unitPrice + microLamports - 1n) / microLamports

/** The price of a unit in millionths of a lamport, never more than the cap allows for so many units. */
export const unitPriceFor = (
  recentPrices: ReadonlyArray<bigint>,
  units: number,
  { maxPriorityLamports, percentile }: FeePolicy
): bigint => {
  const sorted = recentPrices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const place = Math.max(0, Math.ceil((sorted.length * percentile) / 100) - 1)
  const price = sorted[place] ?? 0n
  const cap = (maxPriorityLamports * microLamports) / BigInt(units)
  return price < cap ? price : cap
}
