/** Massive's REST API for stocks under `/massive`, in its documented shapes, from the same prices as its socket. */
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { content } from "#layers/catalogue/content.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { sharePrice } from "#sandbox/market/stockMarket.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

const day = 86_400_000
const units = { minute: 60_000, hour: 3_600_000, day } as const
const maxBars = 50_000

const shares = new Map(
  content.assets.filter(({ kind }) => kind === "equity" || kind === "etf").map((asset) => [asset.symbol, asset])
)

const problem = (status: number, error: string) =>
  HttpServerResponse.jsonUnsafe({ status: "ERROR", request_id: "sandbox", error }, { status })

const answers = {
  error: problem(500, "Internal Server Error"),
  rateLimited: problem(
    429,
    "You've exceeded the maximum requests per minute, please wait or upgrade your subscription"
  ),
  unauthorized: problem(401, "Unknown API Key"),
  forbidden: HttpServerResponse.jsonUnsafe(
    { status: "NOT_AUTHORIZED", request_id: "sandbox", message: "You are not entitled to this data." },
    { status: 403 }
  )
}

const priceAt = (ticker: string, millis: number) => sharePrice(ticker, Math.floor(millis / 1000))

const bar = (ticker: string, from: number, length: number) => {
  const [open, close] = [priceAt(ticker, from), priceAt(ticker, from + length - 1000)]
  const volume = 1_000 + (Math.floor(open * 100) % 5_000)
  return { o: open, c: close, h: Math.max(open, close), l: Math.min(open, close), v: volume, vw: (open + close) / 2 }
}

const snapshot = (ticker: string, now: number) => {
  const midnight = now - (now % day)
  const yesterday = bar(ticker, midnight - day, day)
  const price = priceAt(ticker, now)
  return {
    ticker,
    todaysChange: price - yesterday.c,
    todaysChangePerc: ((price - yesterday.c) / yesterday.c) * 100,
    updated: now * 1_000_000,
    day: { ...bar(ticker, midnight, Math.max(now - midnight, 2_000)) },
    min: { ...bar(ticker, now - 60_000, 60_000), t: now - 60_000, n: 12, av: 100_000 },
    prevDay: yesterday,
    lastTrade: { p: price, s: 100, t: now * 1_000_000, x: 4, c: [], i: "1" }
  }
}

const detail = (ticker: string) => ({
  ticker,
  name: shares.get(ticker)!.name,
  market: "stocks",
  locale: "us",
  primary_exchange: "XNAS",
  type: shares.get(ticker)!.kind === "etf" ? "ETF" : "CS",
  active: true,
  currency_name: "usd",
  description: `${shares.get(ticker)!.name}, as the sandbox knows it.`,
  homepage_url: `https://companies.example/${ticker.toLowerCase()}`,
  list_date: "2000-01-03",
  sic_description: "SERVICES",
  total_employees: 10_000,
  market_cap: Math.round(priceAt(ticker, 0) * 1e9)
})

/** The REST routes. A market that never sleeps is always open. */
export const massiveRest = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const faults = yield* Faults
    const clock = yield* WorldClock
    const { massiveKey } = yield* StreamProcess

    const get = <R>(
      path: `/${string}`,
      answer: (now: number) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
    ) =>
      router.add("GET", `/massive${path}`, (request) =>
        Effect.gen(function* () {
          const mode = yield* faults.take("massive-rest")
          const isRefused = request.headers["authorization"] !== `Bearer ${massiveKey}`
          const work = Effect.flatMap(clock.read, ({ now }) => answer(now))
          return yield* withFaults(mode, answers, isRefused ? Effect.succeed(answers.unauthorized) : work)
        })
      )
    const reply = (body: object) => Effect.succeed(HttpServerResponse.jsonUnsafe({ request_id: "sandbox", ...body }))
    const unknown = Effect.succeed(problem(404, "Ticker not found."))
    const search = Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ url }) => new URL(url, "http://sandbox").searchParams
    )
    const ofTicker =
      (answer: (ticker: string, now: number, params: Readonly<Record<string, string | undefined>>) => object) =>
      (now: number) =>
        Effect.flatMap(HttpRouter.params, (params) => {
          const { ticker = "" } = params
          return shares.has(ticker) ? reply(answer(ticker, now, params)) : unknown
        })

    yield* get("/v1/marketstatus/now", (now) =>
      reply({
        market: "open",
        serverTime: DateTime.formatIso(DateTime.makeUnsafe(now)),
        afterHours: false,
        earlyHours: false,
        exchanges: { nyse: "open", nasdaq: "open", otc: "open" },
        currencies: { crypto: "open", fx: "open" }
      })
    )
    yield* get("/v2/snapshot/locale/us/markets/stocks/tickers", (now) =>
      Effect.flatMap(search, (query) => {
        const wanted = (query.get("tickers") ?? "").split(",").filter((ticker) => shares.has(ticker))
        return reply({ status: "OK", count: wanted.length, tickers: wanted.map((ticker) => snapshot(ticker, now)) })
      })
    )
    yield* get(
      "/v3/reference/tickers/:ticker",
      ofTicker((ticker) => ({ status: "OK", results: detail(ticker) }))
    )
    yield* get("/stocks/v1/dividends", (now) =>
      Effect.flatMap(search, (query) => {
        const ticker = query.get("ticker") ?? ""
        const dateOf = (millis: number) => DateTime.formatIsoDateUtc(DateTime.makeUnsafe(millis))
        const paysIn = [30, 121, 212, 303].map((days) => now - days * day)
        const isPaying = shares.has(ticker) && ticker.length <= 3
        return reply({
          status: "OK",
          results: (isPaying ? paysIn : []).map((at, n) => ({
            id: `${ticker}-${n}`,
            ticker,
            cash_amount: 0.25,
            currency: "USD",
            ex_dividend_date: dateOf(at),
            pay_date: dateOf(at + 14 * day),
            frequency: 4,
            distribution_type: "recurring"
          }))
        })
      })
    )
    yield* get(
      "/v2/aggs/ticker/:ticker/range/:multiplier/:timespan/:from/:to",
      ofTicker((ticker, now, { from = "0", multiplier = "1", timespan = "day", to = "0" }) => {
        const step = Number(multiplier) * (units[timespan as keyof typeof units] ?? day)
        const first = Math.ceil(Number(from) / step)
        const last = Math.floor(Math.min(Number(to), now) / step)
        const count = Math.max(0, Math.min(maxBars, last - first + 1))
        const results = Array.from({ length: count }, (_, n) => {
          const at = (first + n) * step
          return { t: at, n: 10, ...bar(ticker, at, step) }
        })
        return { ticker, adjusted: true, queryCount: count, resultsCount: count, status: "OK", results }
      })
    )
  })
)
