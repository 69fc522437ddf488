/** Sums, shares, and how far both can go while prices stay within basis points of what they are. */
import * as Decimal from "#domain/values/Decimal.ts"
import type { Span } from "#domain/monitor/edge.ts"

export const bps = 10_000n

export const sumOf = <A>(all: ReadonlyArray<A>, valueOf: (one: A) => bigint): bigint =>
  all.reduce((sum, one) => sum + valueOf(one), 0n)

/** A value made of prices that all move by at most so much. */
export const spanOfValue =
  (value: bigint) =>
  (deltaBps: bigint): Span => ({ min: (value * (bps - deltaBps)) / bps, max: (value * (bps + deltaBps)) / bps + 1n })

/** `part / (part + rest)` of `whole`; zero where there is nothing. */
export const shareOf = (part: bigint, rest: bigint, whole: bigint): bigint =>
  part + rest === 0n ? 0n : (part * whole) / (part + rest)

const hundred = 100n * Decimal.one

export const percentOf = (part: bigint, rest: bigint): bigint => shareOf(part, rest, hundred)

/** The share is largest where the part rises and the rest falls, and smallest the other way round. */
export const spanOfShare =
  (part: bigint, rest: bigint, whole = hundred) =>
  (deltaBps: bigint): Span => {
    const [up, down] = [bps + deltaBps, bps - deltaBps]
    return {
      min: shareOf(part * down, rest * up, whole),
      max: part === 0n ? 0n : shareOf(part * up, rest * down, whole) + 1n
    }
  }
