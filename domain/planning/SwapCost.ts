/** The expected cost of one swap as a share of the value sold, ready for integer arithmetic. */
export interface SwapCost {
  /** Basis points lost. */
  readonly lost: bigint
  /** Basis points kept: 10,000 less those lost. */
  readonly kept: bigint
}

/** Basis points in the whole. */
export const whole = 10_000n

/** The cost of a fee from 0 to 9,999 basis points. */
export const fromFeeBps = (feeBps: number): SwapCost => {
  const lost = BigInt(feeBps)
  return { lost, kept: whole - lost }
}
