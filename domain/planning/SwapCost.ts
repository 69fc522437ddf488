/** The expected cost of one swap as a share of the value sold, ready for integer arithmetic. */
export interface SwapCost {
  /** Basis points lost. */
  readonly lost: bigint
  /** Basis points kept: 10,000 less those lost. */
  readonly kept: bigint
  /** Basis points kept where whole units are bought, with room for a market that pays less than the feed. */
  readonly keptForUnits: bigint
}

/** Basis points in the whole. */
export const whole = 10_000n

/** The cost of a fee from 0 to 9,999 basis points, and how much more is sold where whole units are bought. */
export const fromFeeBps = (feeBps: number, headroomBps = 0): SwapCost => {
  const lost = BigInt(feeBps)
  const kept = whole - lost
  return { lost, kept, keptForUnits: (kept * (whole - BigInt(headroomBps))) / whole }
}
