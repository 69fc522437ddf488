/** Minimum, median and maximum of a series, as every result is given. */

export interface Spread {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** The series must not be empty. */
export const spreadOf = (values: ReadonlyArray<number>): Spread => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  if (upper === undefined) throw new RangeError("A spread needs at least one value")
  return {
    min: sorted[0]!,
    median: sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2,
    max: sorted.at(-1)!
  }
}

/** The spread of the quotients of two series, value by value: what was measured in one round stays together. */
export const spreadOfRatios = (numerators: ReadonlyArray<number>, denominators: ReadonlyArray<number>): Spread => {
  if (numerators.length !== denominators.length) throw new RangeError("The series differ in length")
  return spreadOf(numerators.map((numerator, index) => numerator / denominators[index]!))
}
