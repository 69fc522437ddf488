/**
 * Quotes of a Uniswap v2 venue out of its pools' reserves, in the integers that the contracts compute with: what a
 * quote says is what the router pays at the same reserves. Source: UniswapV2Library.getAmountOut, UniswapV2Pair.
 */
import type { EvmAddress } from "#domain/Caip.ts"
import type { Quote, SaleLimits } from "#domain/trading/Venue.ts"

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
  readonly atMost?: SaleLimits
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

/**
 * What is lost against the price of an infinitely small trade at the same fee, rounded up. That price is the product of
 * the reserve ratios, kept as a fraction so that nothing is rounded before the end.
 */
const priceImpactBps = ({ amountOut, hops }: Route): number => {
  const { amountIn } = hops[0]!
  let numerator = amountIn
  let denominator = 1n
  for (const { before } of hops) {
    numerator *= feeKept * before.reserves[1]
    denominator *= feeBase * before.reserves[0]
  }
  const lost = (numerator - amountOut * denominator) * basisPoints
  return Number((lost + numerator - 1n) / numerator)
}

const isWithin = (route: Route, { poolShareBps, priceImpactBps: limitBps, soldRaw }: SaleLimits): boolean =>
  priceImpactBps(route) <= limitBps &&
  route.hops.every(
    ({ amountIn, before }, index) =>
      (amountIn + (index === 0 ? soldRaw : 0n)) * basisPoints <= before.reserves[0] * BigInt(poolShareBps)
  )

/** Bits to which the greatest amount is found: to a millionth of it. */
const precisionBits = 20n

/**
 * The path with all of the amount, or with the greatest that is within the limits. In one pool of reserve R the impact
 * is i at x = R i / (0.997 (1 - i)); over two pools there is no such formula, so it is bisected between there and
 * nothing.
 */
const largestRoute = (
  followed: (amountIn: bigint) => Route | undefined,
  wantedRaw: bigint,
  limits: SaleLimits
): Route | undefined => {
  const all = followed(wantedRaw)
  if (all === undefined || isWithin(all, limits)) return all
  const limitBps = BigInt(limits.priceImpactBps)
  const reserve = all.hops[0]!.before.reserves[0]
  const alone =
    limitBps >= basisPoints ? wantedRaw : (reserve * limitBps * feeBase) / (feeKept * (basisPoints - limitBps))
  let over = (alone < wantedRaw ? alone : wantedRaw) + 1n
  let found: Route | undefined
  for (let within = 0n; over - within > 1n + (over >> precisionBits);) {
    const amountIn = (within + over) / 2n
    const route = followed(amountIn)
    const isGood = route !== undefined && isWithin(route, limits)
    if (isGood) [found, within] = [route, amountIn]
    // Too little buys nothing at all; too much is beyond the limits.
    else if (route === undefined) within = amountIn
    else over = amountIn
  }
  return found
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
    const route =
      sale.atMost === undefined
        ? follow(pools, path, sale.sellAmountRaw)
        : largestRoute((amountIn) => follow(pools, path, amountIn), sale.sellAmountRaw, sale.atMost)
    if (route !== undefined && (best === undefined || route.amountOut > best.amountOut)) best = route
  }
  return best
}

/**
 * The best quote of each sale at the given reserves, as if the sales were made in order: each sees the reserves that
 * those before it left. A sale whose quote `isMade` refuses changes no reserves. Null where no path leads from the sold
 * to the bought token or the amount yields nothing.
 */
export const quoteBatch = (
  pools: ReadonlyArray<Pool>,
  hubs: ReadonlyArray<EvmAddress>,
  sales: ReadonlyArray<Sale>,
  isMade: (index: number, quote: Quote) => boolean = () => true
): ReadonlyArray<Quote | null> => {
  const current = new Map(pools.map((pool) => [poolKey(...pool.tokens), pool]))
  return sales.map((sale, index) => {
    const route = bestRoute(current, sale, hubs)
    if (route === undefined) return null
    const { amountIn } = route.hops[0]!
    const quote: Quote = {
      buyAmountRaw: route.amountOut,
      path: route.path,
      priceImpactBps: priceImpactBps(route),
      ...(amountIn === sale.sellAmountRaw ? {} : { sellAmountRaw: amountIn })
    }
    if (isMade(index, quote)) for (const { after, key } of route.hops) current.set(key, after)
    return quote
  })
}
