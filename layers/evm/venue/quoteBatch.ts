/**
 * Quotes of a Uniswap v2 venue out of its pools' reserves, in the integers that the contracts compute with: what a quote
 * says is what the router pays at the same reserves. Source: UniswapV2Library.getAmountOut, UniswapV2Pair.
 */
import type { EvmAddress } from "#domain/Caip.ts"
import type { Quote } from "#domain/rebalance/Venue.ts"

/** A pool of two tokens and what it holds of each. */
export interface Pool {
  readonly tokens: readonly [EvmAddress, EvmAddress]
  readonly reserves: readonly [bigint, bigint]
}

/** A sale of an exact raw amount. */
export interface Sale {
  readonly sell: EvmAddress
  readonly buy: EvmAddress
  readonly sellAmountRaw: bigint
}

/** Fee of one hop in basis points: 3 of 1000. */
export const feeBps = 30

const feeKept = 997n
const feeBase = 1_000n
const basisPoints = 10_000n

/** A pair stores reserves in 112 bits and refuses to hold more. */
const largestReserve = 2n ** 112n - 1n

/** One name for both orders of two tokens. */
export const poolKey = (a: EvmAddress, b: EvmAddress): string => (a < b ? `${a}/${b}` : `${b}/${a}`)

type Pools = ReadonlyMap<string, Pool>

interface Hop {
  readonly key: string
  /** The pool with the sold token first, before and after the hop. */
  readonly before: Pool
  readonly after: Pool
  readonly amountIn: bigint
  readonly amountOut: bigint
}

const facing = (pool: Pool, sell: EvmAddress): Pool =>
  pool.tokens[0] === sell
    ? pool
    : { tokens: [pool.tokens[1], pool.tokens[0]], reserves: [pool.reserves[1], pool.reserves[0]] }

/** One hop; undefined where there is no pool, where it would pay nothing, or where it cannot take the amount. */
const hop = (pools: Pools, sell: EvmAddress, buy: EvmAddress, amountIn: bigint): Hop | undefined => {
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
  return { key, before, after, amountIn, amountOut }
}

interface Route {
  readonly path: ReadonlyArray<EvmAddress>
  readonly hops: ReadonlyArray<Hop>
  readonly amountOut: bigint
}

const follow = (pools: Pools, path: ReadonlyArray<EvmAddress>, amountIn: bigint): Route | undefined => {
  const hops: Array<Hop> = []
  let amount = amountIn
  for (const [index, sell] of path.slice(0, -1).entries()) {
    const next = hop(pools, sell, path[index + 1]!, amount)
    if (next === undefined) return undefined
    hops.push(next)
    amount = next.amountOut
  }
  return { path, hops, amountOut: amount }
}

/** The direct path, then one through each hub. */
export const candidatePaths = (
  { buy, sell }: Pick<Sale, "buy" | "sell">,
  hubs: ReadonlyArray<EvmAddress>
): ReadonlyArray<ReadonlyArray<EvmAddress>> =>
  sell === buy ? [] : [[sell, buy], ...hubs.filter((hub) => hub !== sell && hub !== buy).map((hub) => [sell, hub, buy])]

/** The route that pays most; of equals the one listed first, so the direct one. */
const bestRoute = (pools: Pools, sale: Sale, hubs: ReadonlyArray<EvmAddress>): Route | undefined => {
  let best: Route | undefined
  for (const path of candidatePaths(sale, hubs)) {
    const route = follow(pools, path, sale.sellAmountRaw)
    if (route !== undefined && (best === undefined || route.amountOut > best.amountOut)) best = route
  }
  return best
}

/**
 * What is lost against the price of an infinitely small trade at the same fee, rounded up. That price is the product of
 * the reserve ratios, kept as a fraction so that nothing is rounded before the end.
 */
const priceImpactBps = ({ amountOut, hops }: Route, amountIn: bigint): number => {
  let numerator = amountIn
  let denominator = 1n
  for (const { before } of hops) {
    numerator *= feeKept * before.reserves[1]
    denominator *= feeBase * before.reserves[0]
  }
  const lost = (numerator - amountOut * denominator) * basisPoints
  return Number((lost + numerator - 1n) / numerator)
}

/**
 * The best quote of each sale at the given reserves, as if the sales were made in order: each sees the reserves that
 * those before it left. Null where no path leads from the sold to the bought token or the amount yields nothing.
 */
export const quoteBatch = (
  pools: ReadonlyArray<Pool>,
  hubs: ReadonlyArray<EvmAddress>,
  sales: ReadonlyArray<Sale>
): ReadonlyArray<Quote | null> => {
  const current = new Map(pools.map((pool) => [poolKey(...pool.tokens), pool]))
  return sales.map((sale) => {
    const route = bestRoute(current, sale, hubs)
    if (route === undefined) return null
    for (const { after, key } of route.hops) current.set(key, after)
    return {
      buyAmountRaw: route.amountOut,
      path: route.path,
      priceImpactBps: priceImpactBps(route, sale.sellAmountRaw)
    }
  })
}
