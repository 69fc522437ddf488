/**
 * Divides a sale among paths that share no pool, so that together they pay most.
 *
 * A path of Uniswap v2 pools pays A x / (B + C x) for x. Together paths pay most where each pays the same for a little
 * more, A B / (B + C x)^2 = 1 / s^2: then x = (s sqrt(A B) - B) / C, nothing where that is below zero and no more than
 * the path can take. `s` is bisected until the amounts sum up to the sale. What is divided is exact; how it is divided
 * is as good as the bisection, whose error counts in its square.
 */
import type { EvmAddress } from "#domain/values/Caip.ts"
import { feeBase, feeKept, follow, type Pools, type Route } from "#layers/evm/venue/poolRoutes.ts"

/** A path, and the most that it may take. */
export interface BoundedPath {
  readonly path: ReadonlyArray<EvmAddress>
  readonly maxRaw: bigint
}

/** A path with the numbers of its formula; `root` is sqrt(A B). */
interface Curve extends BoundedPath {
  readonly b: bigint
  readonly c: bigint
  readonly root: bigint
}

/** Binary places of `s`, and rounds of its bisection. */
const fraction = 128n
const maxRounds = 64

/** The greatest integer whose square is at most `value`: Newton's method comes down to it. */
const squareRoot = (value: bigint): bigint => {
  if (value < 2n) return value
  let found = 1n << (BigInt(value.toString(2).length + 1) / 2n)
  for (;;) {
    const next = (found + value / found) / 2n
    if (next >= found) return found
    found = next
  }
}

/** The formula of the path, from the reserves that a probe of it went through. */
const curveOf = (bounded: BoundedPath, probe: Route): Curve => {
  let [a, b, c] = [1n, 1n, 0n]
  for (const { before } of probe.hops) {
    const [reserveIn, reserveOut] = before.reserves
    // The next hop pays p y / (q + r y) for y = a x / (b + c x).
    const [p, q, r] = [feeKept * reserveOut, feeBase * reserveIn, feeKept]
    ;[a, b, c] = [p * a, q * b, q * c + r * a]
  }
  return { ...bounded, b, c, root: squareRoot(a * b) }
}

const takenAt = ({ b, c, maxRaw, root }: Curve, s: bigint): bigint => {
  const taken = (((s * root) >> fraction) - b) / c
  return taken <= 0n ? 0n : taken < maxRaw ? taken : maxRaw
}

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** How much each path takes; together at most `amountRaw`, and less where the paths cannot take it. */
const divide = (curves: ReadonlyArray<Curve>, amountRaw: bigint): ReadonlyArray<bigint> => {
  if (sumOf(curves.map(({ maxRaw }) => maxRaw)) <= amountRaw) return curves.map(({ maxRaw }) => maxRaw)
  const filled = (s: bigint) => curves.map((curve) => takenAt(curve, s))
  // From where the first path takes something, twice as far each time until they take too much.
  let over = curves.reduce((least, { b, root }) => {
    const s = (b << fraction) / root + 1n
    return least === 0n || s < least ? s : least
  }, 0n)
  while (sumOf(filled(over)) <= amountRaw) over *= 2n
  let within = over / 2n
  if (sumOf(filled(within)) > amountRaw) within = 0n
  for (let round = 0; round < maxRounds && over - within > 1n; round += 1) {
    const s = (within + over) / 2n
    if (sumOf(filled(s)) <= amountRaw) within = s
    else over = s
  }
  const amounts = [...filled(within)]
  let rest = amountRaw - sumOf(amounts)
  // What rounding left, to those that take most and can take more.
  for (const at of [...curves.keys()].toSorted((one, other) => (amounts[other]! > amounts[one]! ? 1 : -1))) {
    const room = curves[at]!.maxRaw - amounts[at]!
    const more = rest < room ? rest : room
    amounts[at]! += more
    rest -= more
  }
  return amounts
}

/** The paths followed with what each takes. A path that would pay nothing for its part leaves it unsold. */
export const splitRoutes = (
  pools: Pools,
  paths: ReadonlyArray<BoundedPath>,
  amountRaw: bigint
): ReadonlyArray<Route> => {
  const curves = paths.flatMap((bounded) => {
    const probe = follow(pools, bounded.path, bounded.maxRaw)
    return probe === undefined ? [] : [curveOf(bounded, probe)]
  })
  return divide(curves, amountRaw)
    .flatMap((amountIn, at) => follow(pools, curves[at]!.path, amountIn) ?? [])
    .toSorted((one, other) => (other.amountIn > one.amountIn ? 1 : other.amountIn < one.amountIn ? -1 : 0))
}
