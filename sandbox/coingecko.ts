/**
 * CoinGecko's v3 REST API, as far as prices need it, answered from the world's price book.
 *
 * Shapes follow CoinGecko's documentation: unknown coins and contracts are absent, contract keys are lower-case, figures
 * are JSON numbers.
 */
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Decimal from "#domain/Decimal.ts"
import { ApiProcess } from "#sandbox/ApiProcess.ts"
import { catalog, type Token } from "#sandbox/catalog.ts"
import { Faults } from "#sandbox/Faults.ts"
import type { PriceBook } from "#sandbox/PriceBook.ts"
import { chartTimes, jsonNumber, priceHistory } from "#sandbox/priceHistory.ts"
import { withFaults } from "#sandbox/withFaults.ts"
import { WorldChains } from "#sandbox/WorldChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const base = "/coingecko/api/v3"
const Flag = Schema.optionalKey(Schema.Literals(["true", "false"]))
const common = {
  vs_currencies: Schema.NonEmptyString,
  include_market_cap: Flag,
  include_24hr_vol: Flag,
  include_24hr_change: Flag,
  include_last_updated_at: Flag,
  precision: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^(full|[0-9]|1[0-8])$/u))),
  x_cg_demo_api_key: Schema.optionalKey(Schema.String)
}
const ContractQuery = Schema.Struct({ ...common, contract_addresses: Schema.NonEmptyString })
const CoinQuery = Schema.Struct({ ...common, ids: Schema.NonEmptyString })
type Options = Omit<typeof CoinQuery.Type, "ids">
const ChartQuery = Schema.Struct({
  vs_currency: Schema.Literal("usd"),
  days: Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  interval: Schema.optionalKey(Schema.Literal("daily")),
  precision: common.precision,
  x_cg_demo_api_key: common.x_cg_demo_api_key
})

/** Most days that a plan without a price sees, and CoinGecko's code for asking for more. */
const freeDays = 365
const rangeCode = 10012

const problem = (status: number, message: string, code = status) =>
  HttpServerResponse.jsonUnsafe({ status: { error_code: code, error_message: message } }, { status })

const answers = {
  error: problem(500, "Internal Server Error"),
  rateLimited: problem(
    429,
    "You've exceeded the Rate Limit. Please visit https://www.coingecko.com/en/api/pricing to subscribe to our API plans for higher rate limits."
  )
}

/** CoinGecko's code for a key that it does not know on this host. */
const wrongKeyCode = 10011

const listed = (text: string) =>
  new Set(
    text
      .split(",")
      .map((part) => part.trim().toLowerCase())
      .slice(0, 500)
  )

/** The stand-in trades a fiftieth of each coin's market capitalisation a day. */
const turnover = 50n

const quote = (token: Token, options: Options, prices: PriceBook, now: number) => {
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

const platforms = catalog.map((chain) => ({
  id: chain.platformId,
  chain_identifier: chain.chainId,
  name: chain.name,
  shortname: chain.name,
  native_coin_id: "ethereum",
  image: { thumb: "", small: "", large: "" }
}))

/** `GET /coins/{platform}/contract/{address}/market_chart`. */
const chart = (
  token: Token,
  { days, interval }: typeof ChartQuery.Type,
  prices: PriceBook,
  now: number,
  beginning: number
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
          const given = request.headers["x-cg-demo-api-key"] ?? query["x_cg_demo_api_key"]
          const refused = apiKey !== undefined && apiKey !== "" && given !== undefined && given !== apiKey
          return yield* withFaults(
            mode,
            answers,
            refused ? Effect.succeed(problem(401, "The API key is not valid", wrongKeyCode)) : answer
          )
        })
      )

    const quotes = (options: Options, chosen: ReadonlyArray<readonly [key: string, token: Token]>) =>
      Effect.map(clock.read, ({ now }) =>
        HttpServerResponse.jsonUnsafe(
          Object.fromEntries(chosen.map(([key, token]) => [key, quote(token, options, prices, now)]))
        )
      )

    yield* get("/ping", Effect.succeed(HttpServerResponse.jsonUnsafe({ gecko_says: "(V3) To the Moon!" })))
    yield* get("/asset_platforms", Effect.succeed(HttpServerResponse.jsonUnsafe(platforms)))
    yield* get(
      "/simple/token_price/:platform",
      Effect.gen(function* () {
        const { platform } = yield* HttpRouter.params
        const chain = catalog.find((entry) => entry.platformId === platform)
        if (chain === undefined)
          return HttpServerResponse.jsonUnsafe({ error: "asset platform not found" }, { status: 404 })
        const options = yield* HttpServerRequest.schemaSearchParams(ContractQuery)
        const wanted = listed(options.contract_addresses)
        const chosen = chain.tokens.map((token) => [token.address.toLowerCase(), token] as const)
        return yield* quotes(
          options,
          chosen.filter(([address]) => wanted.has(address))
        )
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
        return HttpServerResponse.jsonUnsafe(chart(token, query, prices, now, beginning))
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("vs_currency, days or interval"))))
    )
    yield* get(
      "/simple/price",
      Effect.gen(function* () {
        const options = yield* HttpServerRequest.schemaSearchParams(CoinQuery)
        const wanted = listed(options.ids)
        const tokens = catalog.flatMap((chain) => chain.tokens)
        const first = (token: Token) => tokens.find((other) => other.coinId === token.coinId) === token
        const chosen = tokens
          .filter((token) => wanted.has(token.coinId) && first(token))
          .map((token) => [token.coinId, token] as const)
        return yield* quotes(options, chosen)
      }).pipe(Effect.catchTag("SchemaError", () => Effect.succeed(missing("ids or vs_currencies"))))
    )
  })
)
