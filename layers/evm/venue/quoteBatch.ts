/**
 * Quotes of a Uniswap v2 venue out of its pools' reserves, in the integers that the contracts compute with: the
 * quoted amount is what the router pays at the same reserves.
 */
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { Quote, QuoteBatch, QuotedPath, SaleLimits, SplitTerms } from "#domain/trading/Venue.ts"
import {
  feeOf,
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

/** Sales of one operation, and the pools as they are before it. */
export interface SaleBatch extends Pick<QuoteBatch, "isMade"> {
  readonly pools: ReadonlyArray<Pool>
  readonly connectorTokens: ReadonlyArray<EvmAddress>
  readonly sales: ReadonlyArray<Sale>
}

/** Paths of one sale: each is a swap of its own in the operation. */
const maxPaths = 3

/** The direct path, then one through each connector. */
export const candidatePaths = (
  { buy, sell }: Pick<Sale, "buy" | "sell">,
  connectorTokens: ReadonlyArray<EvmAddress>
): ReadonlyArray<ReadonlyArray<EvmAddress>> =>
  sell === buy
    ? []
    : [
        [sell, buy],
        ...connectorTokens
          .filter((connector) => connector !== sell && connector !== buy)
          .map((connector) => [sell, connector, buy])
      ]

/** The route that pays most; of equals the one listed first, so the direct one. */
const bestOf = (routes: ReadonlyArray<Route | undefined>): Route | undefined =>
  routes.reduce(
    (best, route) => (route !== undefined && (best === undefined || route.amountOut > best.amountOut) ? route : best),
    undefined
  )

const boughtOver = (routes: ReadonlyArray<Route>): bigint => routes.reduce((sum, route) => sum + route.amountOut, 0n)
const soldOver = (routes: ReadonlyArray<Route>): bigint => routes.reduce((sum, route) => sum + route.amountIn, 0n)

interface SplitSale extends Pick<Sale, "sellAmountRaw"> {
  readonly atMost: SaleLimits | undefined
  readonly split: SplitTerms
  readonly paths: ReadonlyArray<ReadonlyArray<EvmAddress>>
}

/**
 * The sale over as many paths as are worth their gas, those that take most first; what one path cannot take goes over
 * another. No two candidate paths share a pool, since each but the direct one has a connector of its own.
 */
const severalRoutes = (
  pools: Pools,
  { atMost, paths, sellAmountRaw: wantedRaw, split: { gainRaw, within } }: SplitSale,
  single: Route | undefined
): ReadonlyArray<Route> => {
  const limits = { ...(atMost ?? within), wantedRaw }
  const bounded = paths.flatMap((path) => {
    const most = largestRoute(pools, path, limits)
    return most === undefined ? [] : [{ path, maxRaw: most.amountIn }]
  })
  const alone = single === undefined ? [] : [single]
  if (bounded.length < 2) return alone
  // A path that the limits refuse is worth nothing.
  let best = single !== undefined && isWithin(single, pools, limits) ? alone : []
  const all = splitRoutes(pools, bounded, wantedRaw)
  for (let count = 2; count <= Math.min(maxPaths, all.length); count += 1) {
    const used = bounded.filter(({ path }) => all.slice(0, count).some((route) => route.path === path))
    const routes = count === all.length ? all : splitRoutes(pools, used, wantedRaw)
    const isWhole = atMost !== undefined || soldOver(routes) === wantedRaw
    const isKept = routes.every((route) => isWithin(route, pools, limits))
    const gain = boughtOver(routes) - boughtOver(best)
    if (isWhole && isKept && gain > gainRaw * BigInt(routes.length - Math.max(1, best.length))) best = [...routes]
  }
  return best.length === 0 ? alone : best
}

const routesOf = (pools: Pools, sale: Sale, connectorTokens: ReadonlyArray<EvmAddress>): ReadonlyArray<Route> => {
  const { atMost, sellAmountRaw, split } = sale
  const paths = candidatePaths(sale, connectorTokens)
  const single = bestOf(
    paths.map((path) =>
      atMost === undefined
        ? follow(pools, path, sellAmountRaw)
        : largestRoute(pools, path, { ...atMost, wantedRaw: sellAmountRaw })
    )
  )
  if (split !== undefined) return severalRoutes(pools, { atMost, sellAmountRaw, split, paths }, single)
  return single === undefined ? [] : [single]
}

const quotedPath = (route: Route): QuotedPath => ({
  execution: { _tag: "Evm", path: route.path, inputsRaw: route.hops.map(({ amountIn }) => amountIn) },
  sellAmountRaw: route.amountIn,
  buyAmountRaw: route.amountOut,
  priceImpactBps: priceImpactBps(route),
  ...feeOf(route)
})

/**
 * Where nothing can be sold within the sale's limits, the path that would pay most for all of it; null without any, and
 * where the sale has no limits.
 */
const nothingNow = (pools: Pools, sale: Sale, connectorTokens: ReadonlyArray<EvmAddress>): Quote | null => {
  if (sale.atMost === undefined) return null
  const best = bestOf(candidatePaths(sale, connectorTokens).map((path) => follow(pools, path, sale.sellAmountRaw)))
  if (best === undefined) return null
  const execution = { _tag: "Evm", path: best.path } as const
  return { ...feeOf(best), buyAmountRaw: 0n, execution, priceImpactBps: 0, sellAmountRaw: 0n, feeRaw: 0n }
}

const quoteOf = (sale: Sale, routes: ReadonlyArray<Route>): Quote | null => {
  const paths = routes.map(quotedPath)
  const [first] = paths
  if (first === undefined) return null
  const soldRaw = soldOver(routes)
  return {
    buyAmountRaw: boughtOver(routes),
    execution: first.execution,
    priceImpactBps: Math.max(...paths.map((one) => one.priceImpactBps)),
    feeRaw: routes.reduce((sum, route) => sum + (feeOf(route).feeRaw ?? 0n), 0n),
    furtherFeeBps: Math.max(...paths.map((one) => one.furtherFeeBps)),
    ...(soldRaw === sale.sellAmountRaw ? {} : { sellAmountRaw: soldRaw }),
    ...(paths.length === 1 ? {} : { paths })
  }
}

/**
 * The best quote of each sale at the given reserves, as if the sales were made in order: each sees the reserves that
 * those before it left. A sale whose quote `isMade` refuses changes no reserves. Null where no path leads from the sold
 * to the bought token or the amount yields nothing.
 */
export const quoteBatch = ({
  connectorTokens,
  isMade = () => true,
  pools,
  sales
}: SaleBatch): ReadonlyArray<Quote | null> => {
  const current = new Map(pools.map((pool) => [poolKey(...pool.tokens), pool]))
  const inBatch = new Map<string, bigint>()
  return sales.map((sale, index) => {
    const sold = new Map(inBatch)
    for (const { buy, raw, sell } of sale.atMost?.sold ?? []) {
      const key = saleKey(toEvm(sell), toEvm(buy))
      sold.set(key, (sold.get(key) ?? 0n) + raw)
    }
    const known = { pools: current, sold }
    const routes = routesOf(known, sale, connectorTokens)
    const quote = quoteOf(sale, routes) ?? nothingNow(known, sale, connectorTokens)
    if (quote === null || !isMade(index, quote)) return quote
    for (const { after, amountIn, key, sale: sold } of routes.flatMap(({ hops }) => hops)) {
      current.set(key, after)
      inBatch.set(sold, (inBatch.get(sold) ?? 0n) + amountIn)
    }
    return quote
  })
}
