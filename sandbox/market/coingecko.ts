/**
 * CoinGecko's v3 REST API, as far as prices need it, answered from the world's price book.
 *
 * Shapes follow CoinGecko's documentation: unknown coins and contracts are absent, contract keys are lower-case,
 * figures are JSON numbers.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { solanaChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { catalog, type Token } from "#sandbox/assets/catalog.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { catalogueTokenPrice, coinById, otherPlatforms, wrappedAs } from "#sandbox/market/coinBook.ts"
import {
  ChartQuery,
  CoinQuery,
  ContractQuery,
  isKeyed,
  keyOf,
  MarketsQuery,
  OhlcQuery,
  paidKeyHeader,
  type Options
} from "#sandbox/market/coingeckoQueries.ts"
import * as Market from "#sandbox/market/coinMarket.ts"
import { chartTimes, jsonNumber, priceHistory } from "#sandbox/market/priceHistory.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const base = "/coingecko/api/v3"

/** Most days that a plan without a price sees, and CoinGecko's code for asking for more than a plan allows. */
const freeDays = 365
const rangeCode = 10012

const problem = (status: number, message: string, code = status) =>
  HttpServerResponse.jsonUnsafe({ status: { error_code: code, error_message: message } }, { status })

const answers = {
  unauthorized: problem(401, "API Key Missing", 10002),
  forbidden: problem(403, "This request is limited to a paid plan", 10005),
  error: problem(500, "Internal Server Error"),
  rateLimited: problem(
    429,
    "You've exceeded the Rate Limit. Please visit https://www.coingecko.com/en/api/pricing to subscribe to our API plans for higher rate limits."
  )
}

/** What CoinGecko answers to a request without a key for more than one contract. */
const tooManyAddresses = HttpServerResponse.jsonUnsafe(
  {
    error_code: rangeCode,
    status: {
      error_message:
        "Number of contract addresses in the request exceeds the allowed limit of 1 contract address. To enjoy a higher limit, please subscribe to the Demo plan or to a paid plan."
    }
  },
  { status: 400 }
)

/** CoinGecko's code for a key that it does not know on this host. */
const wrongKeyCode = 10011

/** Mints of Solana mean what their case says. */
const named = (text: string) => new Set(text.split(",", 500).map((part) => part.trim()))
const listed = (text: string) => named(text.toLowerCase())

/** The stand-in trades a fiftieth of each coin's market capitalisation a day. */
const turnover = 50n

const quote = (token: Token, options: Options, { now, prices }: Market.PricesAt) => {
  const price = prices.price(token.assetId)
  const marketCap = price * token.supply
  // JSON numbers are all CoinGecko has; nothing is computed with them here.
  const number = (wad: bigint, places = 18) => Number(Decimal.format(wad, places))
  const places = options.precision === undefined || options.precision === "full" ? 18 : Number(options.precision)
  return {
    ...(listed(options.vs_currencies).has("usd")
      ? {
          usd: number(price, places),
          ...(options.include_market_cap === "true" ? { usd_market_cap: number(marketCap) } : {}),
          ...(options.include_24hr_vol === "true" ? { usd_24h_vol: number(marketCap / turnover) } : {}),
          ...(options.include_24hr_change === "true"
            ? { usd_24h_change: number(prices.dayChangePercent(token.assetId, now)) }
            : {})
        }
      : {}),
    ...(options.include_last_updated_at === "true" ? { last_updated_at: Math.floor(now / 1000) } : {})
  }
}

const allPlatforms = [
  ...catalog.map(({ chainId, name, platformId }) => ({ id: platformId, chainId, name })),
  ...otherPlatforms
]

const platforms = allPlatforms.map(({ chainId, id, name }) => ({
  id,
  // CoinGecko numbers EVM chains alone.
  chain_identifier: chainId === solanaChainId ? null : chainId,
  name,
  shortname: chainId === solanaChainId ? "" : name,
  native_coin_id: chainId === solanaChainId ? "solana" : "ethereum",
  image: { thumb: "", small: "", large: "" }
}))

/** The quote of a token that is not of the world's own. */
const bareQuote = (price: number, options: Options, now: number) => ({
  usd: price,
  ...(options.include_market_cap === "true" ? { usd_market_cap: 0 } : {}),
  ...(options.include_24hr_vol === "true" ? { usd_24h_vol: price * 1_000 } : {}),
  ...(options.include_24hr_change === "true" ? { usd_24h_change: 0.5 } : {}),
  ...(options.include_last_updated_at === "true" ? { last_updated_at: Math.floor(now / 1000) } : {})
})

/** `GET /coins/{platform}/contract/{address}/market_chart`. */
const chart = (
  token: Token,
  { days, interval }: typeof ChartQuery.Type,
  { beginning, now, prices }: Market.PricesAt & { readonly beginning: number }
) => {
  const points = prices.entries().find(([assetId]) => assetId === token.assetId)?.[1] ?? []
  const times = chartTimes(now, days, interval === "daily")
  const history = priceHistory({ token, points, times, beginning })
  const series = (figure: (priceUsd: bigint) => bigint) =>
    history.map(({ at, priceUsd }) => [at, jsonNumber(figure(priceUsd))])
  return {
    prices: series((priceUsd) => priceUsd),
    market_caps: series((priceUsd) => priceUsd * token.supply),
    total_volumes: series((priceUsd) => (priceUsd * token.supply) / turnover)
  }
}

/** CoinGecko's answer to a request without a required parameter. */
const missing = (name: string) =>
  HttpServerResponse.jsonUnsafe({ error: `Missing or invalid parameter ${name}` }, { status: 422 })

/** The price feed under `/coingecko/api/v3`. */
export const coingecko = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock
    const { prices } = yield* WorldChains
    const apiKey = (yield* ApiProcess).environment["COINGECKO_API_KEY"]
    const { now: beginning } = yield* clock.read

    const get = <E, R>(path: `/${string}`, answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
      router.add("GET", `${base}${path}`, (request) =>
        Effect.gen(function* () {
          const mode = yield* faults.take("prices")
          const query = yield* HttpServerRequest.ParsedSearchParams
          const given = keyOf(request.headers, query)
          const refused = apiKey !== undefined && apiKey !== "" && given !== undefined && given !== apiKey
          return yield* withFaults(
            mode,
            answers,
            refused ? Effect.succeed(problem(401, "The API key is not valid", wrongKeyCode)) : answer
          )
        })
      )

    const quotes = (
      options: Options,
      chosen: ReadonlyArray<readonly [key: string, token: Token]>,
      others: Readonly<Record<string, object>> = {}
    ) =>
      Effect.map(clock.read, ({ now }) =>
        HttpServerResponse.jsonUnsafe({
          ...others,
          ...Object.fromEntries(chosen.map(([key, token]) => [key, quote(token, options, { prices, now })]))
        })
      )
    const now = Effect.map(clock.read, (read) => read.now)
    const json = (body: (now: number) => unknown) => Effect.map(now, (at) => HttpServerResponse.jsonUnsafe(body(at)))

    yield* get("/ping", Effect.succeed(HttpServerResponse.jsonUnsafe({ gecko_says: "(V3) To the Moon!" })))
    yield* get("/asset_platforms", Effect.succeed(HttpServerResponse.jsonUnsafe(platforms)))
    yield* get(
      "/simple/token_price/:platform",
      Effect.gen(function* () {
        const { platform } = yield* HttpRouter.params
        const known = allPlatforms.find(({ id }) => id === platform)
        if (known === undefined)
          return HttpServerResponse.jsonUnsafe({ error: "asset platform not found" }, { status: 404 })
        const options = yield* HttpServerRequest.schemaSearchParams(ContractQuery)
        const asked = options.contract_addresses.split(",").length
        if (asked > 1 && !(yield* isKeyed)) return tooManyAddresses
        const wanted =
          known.chainId === solanaChainId ? named(options.contract_addresses) : listed(options.contract_addresses)
        const chain = catalog.find((entry) => entry.platformId === platform)
        const chosen = (chain?.tokens ?? []).map((token) => [token.address.toLowerCase(), token] as const)
        const own = chosen.filter(([address]) => wanted.has(address))
        const { now } = yield* clock.read
        const others = [...wanted].flatMap((address) => {
          if (own.some(([known]) => known === address)) return []
          const price = catalogueTokenPrice({ chainId: known.chainId, address }, prices, now)
          return price === undefined ? [] : [[address, bareQuote(price, options, now)] as const]
        })
        return yield* quotes(options, own, Object.fromEntries(others))
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("contract_addresses or vs_currencies"))))
    )
    yield* get(
      "/coins/:platform/contract/:address/market_chart",
      Effect.gen(function* () {
        const { address = "", platform } = yield* HttpRouter.params
        const token = catalog
          .find((entry) => entry.platformId === platform)
          ?.tokens.find((entry) => entry.address.toLowerCase() === address.toLowerCase())
        if (token === undefined) return HttpServerResponse.jsonUnsafe({ error: "coin not found" }, { status: 404 })
        const query = yield* HttpServerRequest.schemaSearchParams(ChartQuery)
        if (query.days > freeDays) {
          return problem(401, `The plan of the key allows the past ${freeDays} days only`, rangeCode)
        }
        const { now } = yield* clock.read
        return HttpServerResponse.jsonUnsafe(chart(token, query, { prices, now, beginning }))
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("vs_currency, days or interval"))))
    )
    yield* get(
      "/global",
      json((at) => Market.globalMarket(prices, at))
    )
    yield* get(
      "/global/decentralized_finance_defi",
      json((at) => Market.defiMarket(prices, at))
    )
    yield* get(
      "/coins/categories",
      json((at) => Market.marketCategories(prices, at))
    )
    yield* get(
      "/coins/categories/list",
      json(() => Market.categoryList)
    )
    yield* get(
      "/search/trending",
      json((at) => Market.trending(prices, at))
    )
    // Only a plan with a price has news; its key comes in a header of its own.
    yield* get(
      "/news",
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, url }) =>
        headers[paidKeyHeader] === undefined
          ? Effect.succeed(answers.forbidden)
          : json((at) => Market.news(Number(new URL(url, "http://sandbox").searchParams.get("per_page") ?? 10), at))
      )
    )
    yield* get(
      "/coins/markets",
      Effect.gen(function* () {
        const query = yield* HttpServerRequest.schemaSearchParams(MarketsQuery)
        const at = yield* now
        const rows = Market.coinMarkets(
          {
            ids: query.ids === undefined ? undefined : [...listed(query.ids)],
            page: query.page ?? 1,
            perPage: query.per_page ?? 100,
            sparkline: query.sparkline === "true"
          },
          prices,
          at
        )
        return HttpServerResponse.jsonUnsafe(rows)
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("vs_currency, ids, page or per_page"))))
    )
    yield* get(
      "/coins/:id/ohlc",
      Effect.gen(function* () {
        const { id = "" } = yield* HttpRouter.params
        const coin = coinById(id)
        if (coin === undefined) return HttpServerResponse.jsonUnsafe({ error: "coin not found" }, { status: 404 })
        const { days } = yield* HttpServerRequest.schemaSearchParams(OhlcQuery)
        return HttpServerResponse.jsonUnsafe(Market.ohlc(coin, days, { prices, now: yield* now }))
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("vs_currency or days"))))
    )
    yield* get(
      "/simple/price",
      Effect.gen(function* () {
        const options = yield* HttpServerRequest.schemaSearchParams(CoinQuery)
        const tokens = catalog.flatMap((chain) => chain.tokens)
        const chosen = [...listed(options.ids)].flatMap((id) => {
          const token = tokens.find(({ coinId }) => coinId === (wrappedAs[id] ?? id))
          return token === undefined ? [] : [[id, token] as const]
        })
        return yield* quotes(options, chosen)
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("ids or vs_currencies"))))
    )
  })
)
