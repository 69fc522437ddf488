/**
 * Quotes of a Uniswap v2 venue out of its pools' reserves, in the integers that the contracts compute with: what a
 * quote says is what the router pays at the same reserves.
 */
import type { EvmAddress } from "#domain/Caip.ts"
import type { Quote, QuotedPath, SaleLimits, SplitTerms } from "#domain/trading/Venue.ts"
import {
  follow,
  isWithin,
  largestRoute,
  type Pool,
  poolKey,
  type Pools,
  priceImpactBps,
  type Route,
  saleKey
} from "#layers/evm/venue/poolRoutes.ts"
import { splitRoutes } from "#layers/evm/venue/splitRoutes.ts"
import { toEvm } from "#layers/evm/address.ts"

export { feeBps, type Pool, poolKey } from "#layers/evm/venue/poolRoutes.ts"

/** A sale of an exact raw amount. */
export interface Sale {
  readonly sell: EvmAddress
  readonly buy: EvmAddress
  readonly sellAmountRaw: bigint
  readonly atMost?: SaleLimits
  readonly split?: SplitTerms
}

/** Paths of one sale: each is a swap of its own in the operation. */
const maxPaths = 3

/** The direct path, then one through each hub. */
export const candidatePaths = (
  { buy, sell }: Pick<Sale, "buy" | "sell">,
  hubs: ReadonlyArray<EvmAddress>
): ReadonlyArray<ReadonlyArray<EvmAddress>> =>
  sell === buy ? [] : [[sell, buy], ...hubs.filter((hub) => hub !== sell && hub !== buy).map((hub) => [sell, hub, buy])]

/** The route that pays most; of equals the one listed first, so the direct one. */
const bestOf = (routes: ReadonlyArray<Route | undefined>): Route | undefined =>
  routes.reduce(
    (best, route) => (route !== undefined && (best === undefined || route.amountOut > best.amountOut) ? route : best),
    undefined
  )

const boughtOver = (routes: ReadonlyArray<Route>): bigint => routes.reduce((sum, route) => sum + route.amountOut, 0n)
const soldOver = (routes: ReadonlyArray<Route>): bigint => routes.reduce((sum, route) => sum + route.amountIn, 0n)

/**
 * The sale over as many paths as are worth their gas, those that take most first; what one path cannot take goes over
 * another. No two candidate paths share a pool, since each but the direct one has a hub of its own.
 */
const severalRoutes = (
  pools: Pools,
  { atMost, sellAmountRaw: wantedRaw }: Sale,
  { gainRaw, within }: SplitTerms,
  paths: ReadonlyArray<ReadonlyArray<EvmAddress>>,
  single: Route | undefined
): ReadonlyArray<Route> => {
  const limits = atMost ?? within
  const lanes = paths.flatMap((path) => {
    const most = largestRoute(pools, path, wantedRaw, limits)
    return most === undefined ? [] : [{ path, mostRaw: most.amountIn }]
  })
  const alone = single === undefined ? [] : [single]
  if (lanes.length < 2) return alone
  // A path that the limits refuse is worth nothing.
  let best = single !== undefined && isWithin(single, pools, limits, wantedRaw) ? alone : []
  const all = splitRoutes(pools, lanes, wantedRaw)
  for (let count = 2; count <= Math.min(maxPaths, all.length); count += 1) {
    const used = lanes.filter(({ path }) => all.slice(0, count).some((route) => route.path === path))
    const routes = count === all.length ? all : splitRoutes(pools, used, wantedRaw)
    const isWhole = atMost !== undefined || soldOver(routes) === wantedRaw
    const isKept = routes.every((route) => isWithin(route, pools, limits, wantedRaw))
    const gain = boughtOver(routes) - boughtOver(best)
    if (isWhole && isKept && gain > gainRaw * BigInt(routes.length - Math.max(1, best.length))) best = [...routes]
  }
  return best.length === 0 ? alone : best
}

const routesOf = (pools: Pools, sale: Sale, hubs: ReadonlyArray<EvmAddress>): ReadonlyArray<Route> => {
  const { atMost, sellAmountRaw, split } = sale
  const paths = candidatePaths(sale, hubs)
  const single = bestOf(
    paths.map((path) =>
      atMost === undefined ? follow(pools, path, sellAmountRaw) : largestRoute(pools, path, sellAmountRaw, atMost)
    )
  )
  if (split !== undefined) return severalRoutes(pools, sale, split, paths, single)
  return single === undefined ? [] : [single]
}

const quotedPath = (route: Route): QuotedPath => ({
  path: route.path,
  sellAmountRaw: route.amountIn,
  buyAmountRaw: route.amountOut,
  priceImpactBps: priceImpactBps(route),
  inputsRaw: route.hops.map(({ amountIn }) => amountIn)
})

/** Where nothing can be sold within the limits, the path that would pay most for all of it; null without any. */
const nothingNow = (pools: Pools, sale: Sale, hubs: ReadonlyArray<EvmAddress>): Quote | null => {
  const best = bestOf(candidatePaths(sale, hubs).map((path) => follow(pools, path, sale.sellAmountRaw)))
  return best === undefined ? null : { buyAmountRaw: 0n, path: best.path, priceImpactBps: 0, sellAmountRaw: 0n }
}

const quoteOf = (pools: Pools, sale: Sale, hubs: ReadonlyArray<EvmAddress>, routes: ReadonlyArray<Route>) => {
  const paths = routes.map(quotedPath)
  const [first] = paths
  if (first === undefined) return sale.atMost === undefined ? null : nothingNow(pools, sale, hubs)
  const soldRaw = soldOver(routes)
  const quote: Quote = {
    buyAmountRaw: boughtOver(routes),
    path: first.path,
    priceImpactBps: Math.max(...paths.map((one) => one.priceImpactBps)),
    inputsRaw: first.inputsRaw,
    ...(soldRaw === sale.sellAmountRaw ? {} : { sellAmountRaw: soldRaw }),
    ...(paths.length === 1 ? {} : { paths })
  }
  return quote
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
  const inBatch = new Map<string, bigint>()
  return sales.map((sale, index) => {
    const sold = new Map(inBatch)
    for (const { buy, raw, sell } of sale.atMost?.sold ?? []) {
      const key = saleKey(toEvm(sell), toEvm(buy))
      sold.set(key, (sold.get(key) ?? 0n) + raw)
    }
    const known = { pools: current, sold }
    const routes = routesOf(known, sale, hubs)
    const quote = quoteOf(known, sale, hubs, routes)
    if (quote === null || !isMade(index, quote)) return quote
    for (const { after, amountIn, key, sale: sold } of routes.flatMap(({ hops }) => hops)) {
      current.set(key, after)
      inBatch.set(sold, (inBatch.get(sold) ?? 0n) + amountIn)
    }
    return quote
  })
}
