/**
 * Splits a whole into integer parts in proportion to weights, so that the parts sum to exactly the whole.
 *
 * Each part is cut to an integer, and what is left over goes one by one to the parts that were cut by most (the method
 * of the largest remainder). Equal cuts are served in the order that `precedence` gives the indices; without it, in
 * their own.
 *
 * @param whole not negative
 * @param weights not negative, not all zero
 */
export const apportion = (
  whole: bigint,
  weights: ReadonlyArray<bigint>,
  precedence: (a: number, b: number) => number = (a, b) => a - b
): ReadonlyArray<bigint> => {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  const shares = weights.map((weight, index) => ({
    index,
    part: (whole * weight) / total,
    cut: (whole * weight) % total
  }))
  const left = shares.reduce((rest, { part }) => rest - part, whole)
  const served = shares
    .toSorted((a, b) => (a.cut === b.cut ? precedence(a.index, b.index) : a.cut > b.cut ? -1 : 1))
    .slice(0, Number(left))
  const rounded = new Set(served.map(({ index }) => index))
  return shares.map(({ index, part }) => (rounded.has(index) ? part + 1n : part))
}
