/**
 * What a sale yields over a path of Uniswap v2 pools, in the integers that the contracts compute with. Source:
 * UniswapV2Library.getAmountOut, UniswapV2Pair.
 */
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { LossLimits, SaleLimits, VenueTerms } from "#domain/trading/Venue.ts"

/** A pool of two tokens and what it holds of each. */
export interface Pool {
  readonly tokens: readonly [EvmAddress, EvmAddress]
  readonly reserves: readonly [bigint, bigint]
}

/** Fee of one hop in basis points: 3 of 1000. */
export const feeBps = 30

export const feeKept = 997n
export const feeBase = 1_000n
const basisPoints = 10_000n

/** A pair stores reserves in 112 bits and refuses to hold more. */
const largestReserve = 2n ** 112n - 1n

/** One name for both orders of two tokens. */
export const poolKey = (a: EvmAddress, b: EvmAddress): string => (a < b ? `${a}/${b}` : `${b}/${a}`)

/** Pools as they are, and what was sold into each of them already: by the sold token, then the bought one. */
export interface Pools {
  readonly pools: ReadonlyMap<string, Pool>
  readonly sold: ReadonlyMap<string, bigint>
}

export const saleKey = (sell: EvmAddress, buy: EvmAddress): string => `${sell}>${buy}`

interface Hop {
  readonly key: string
  /** Whose share of the pool is used up. */
  readonly sale: string
  /** The pool with the sold token first, before and after the hop. */
  readonly before: Pool
  readonly after: Pool
  readonly amountIn: bigint
  readonly amountOut: bigint
}

export interface Route {
  readonly path: ReadonlyArray<EvmAddress>
  readonly hops: ReadonlyArray<Hop>
  readonly amountIn: bigint
  readonly amountOut: bigint
}

const facing = (pool: Pool, sell: EvmAddress): Pool =>
  pool.tokens[0] === sell
    ? pool
    : { tokens: [pool.tokens[1], pool.tokens[0]], reserves: [pool.reserves[1], pool.reserves[0]] }

/** One hop; undefined where there is no pool, where it would pay nothing, or where it cannot take the amount. */
const hop = ({ pools }: Pools, [sell, buy]: Pool["tokens"], amountIn: bigint): Hop | undefined => {
  const key = poolKey(sell, buy)
  const pool = pools.get(key)
  if (pool === undefined || amountIn <= 0n) return undefined
  const before = facing(pool, sell)
  const [reserveIn, reserveOut] = before.reserves
  if (reserveIn === 0n || reserveOut === 0n || reserveIn + amountIn > largestReserve) return undefined
  const kept = amountIn * feeKept
  const amountOut = (kept * reserveOut) / (reserveIn * feeBase + kept)
  if (amountOut === 0n) return undefined
  const after: Pool = { tokens: before.tokens, reserves: [reserveIn + amountIn, reserveOut - amountOut] }
  return { key, sale: saleKey(sell, buy), before, after, amountIn, amountOut }
}

export const follow = (pools: Pools, path: ReadonlyArray<EvmAddress>, amountIn: bigint): Route | undefined => {
  const hops: Array<Hop> = []
  let amount = amountIn
  for (const [index, sell] of path.slice(0, -1).entries()) {
    const next = hop(pools, [sell, path[index + 1]!], amount)
    if (next === undefined) return undefined
    hops.push(next)
    amount = next.amountOut
  }
  return { path, hops, amountIn, amountOut: amount }
}

/**
 * What is lost against the price of an infinitely small trade at the same fee, rounded up. That price is the product of
 * the reserve ratios, kept as a fraction so that nothing is rounded before the end.
 */
export const priceImpactBps = ({ amountIn, amountOut, hops }: Route): number => {
  let numerator = amountIn
  let denominator = 1n
  for (const { before } of hops) {
    numerator *= feeKept * before.reserves[1]
    denominator *= feeBase * before.reserves[0]
  }
  const lost = (numerator - amountOut * denominator) * basisPoints
  return Number((lost + numerator - 1n) / numerator)
}

/** Limits of a route: `SaleLimits` also hold the share of each pool. */
export type RouteLimits = LossLimits &
  Partial<Pick<SaleLimits, "poolShareBps">> & {
    /** What the whole sale is to sell, of which the route may sell a part. */
    readonly wantedRaw: bigint
  }

/** What the pools of a route keep, and how much more that is than the fee of one pool, which plans count. */
export const feeOf = ({ amountIn, hops }: Route): Pick<VenueTerms, "feeRaw" | "furtherFeeBps"> => {
  const kept = hops.reduce((raw) => (raw * (basisPoints - BigInt(feeBps))) / basisPoints, amountIn)
  return { feeRaw: amountIn - kept, furtherFeeBps: (hops.length - 1) * feeBps }
}

/** Whether a route keeps to the limits of its sale. */
export const isWithin = (route: Route, { sold }: Pools, limits: RouteLimits): boolean => {
  const { poolShareBps, wantedRaw } = limits
  const minRaw = limits.minRaw(feeOf(route).furtherFeeBps)
  return (
    priceImpactBps(route) <= limits.priceImpactBps &&
    route.amountOut * wantedRaw >= minRaw * route.amountIn &&
    (poolShareBps === undefined ||
      route.hops.every(
        ({ amountIn, before, sale }) =>
          (amountIn + (sold.get(sale) ?? 0n)) * basisPoints <= before.reserves[0] * BigInt(poolShareBps)
      ))
  )
}

/** Bits to which the greatest amount is found: to a millionth of it. */
const precisionBits = 20n

/**
 * The path with all of the amount, or with the greatest that is within the limits; undefined where nothing is. In one
 * pool of reserve R the impact is i at x = R i / (0.997 (1 - i)); over two pools there is no such formula, so it is
 * bisected between there and nothing.
 */
export const largestRoute = (pools: Pools, path: ReadonlyArray<EvmAddress>, limits: RouteLimits): Route | undefined => {
  const { wantedRaw } = limits
  const all = follow(pools, path, wantedRaw)
  if (all === undefined || isWithin(all, pools, limits)) return all
  const limitBps = BigInt(limits.priceImpactBps)
  const reserve = all.hops[0]!.before.reserves[0]
  const alone =
    limitBps >= basisPoints ? wantedRaw : (reserve * limitBps * feeBase) / (feeKept * (basisPoints - limitBps))
  let over = (alone < wantedRaw ? alone : wantedRaw) + 1n
  let found: Route | undefined
  for (let within = 0n; over - within > 1n + (over >> precisionBits);) {
    const amountIn = (within + over) / 2n
    const route = follow(pools, path, amountIn)
    const isGood = route !== undefined && isWithin(route, pools, limits)
    if (isGood) [found, within] = [route, amountIn]
    // Too little buys nothing at all; too much is beyond the limits.
    else if (route === undefined) within = amountIn
    else over = amountIn
  }
  return found
}
