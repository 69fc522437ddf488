/**
 * What is fetched from Massive for the shared cache: quotes, market hours, companies, dividends and candles of shares.
 */
import { Clock, DateTime, Effect, Option, Schema } from "effect"
import { type Candle, type CandleSpan, candleSpans, stockCandles } from "#domain/marketData/coinDatasets.ts"
import { MarketDataUnavailable } from "#domain/marketData/Dataset.ts"
import { figureOf, priceOf } from "#domain/marketData/Figure.ts"
import type { MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"
import * as Datasets from "#domain/marketData/stockDatasets.ts"
import { linkOf, textOf, timeOf, wholeOf } from "#layers/market/coingecko/rows.ts"
import { datasetJob, inRequests, whole } from "#layers/market/datasetJob.ts"
import type { MassiveRest } from "#layers/market/massive/MassiveRest.ts"
import { fetchedItems } from "#layers/market/readItems.ts"
import type { AnswerSchema, Question } from "#layers/provider/makeFind.ts"

const dayMillis = 86_400_000
const Maybe = Schema.optionalKey(Schema.Unknown)
const List = Schema.Array(Schema.Unknown)

const Bar = Schema.Record(Schema.String, Schema.Unknown)
const SnapshotRow = Schema.Struct({
  ticker: Schema.NonEmptyString,
  todaysChangePerc: Maybe,
  updated: Maybe,
  day: Schema.optionalKey(Bar),
  prevDay: Schema.optionalKey(Bar),
  min: Schema.optionalKey(Bar),
  lastTrade: Schema.optionalKey(Bar)
})

/** Times of snapshots are in nanoseconds, beyond what a JSON number holds exactly; milliseconds are exact enough. */
const millisOf = (nanoseconds: unknown): string | null =>
  typeof nanoseconds === "number" && nanoseconds > 0
    ? Option.getOrNull(Option.map(DateTime.make(Math.floor(nanoseconds / 1e6)), DateTime.formatIso))
    : null

const toQuote = (row: typeof SnapshotRow.Type): Datasets.StockQuote => ({
  ticker: row.ticker,
  // What is cleared at night is zero, and then the last that is known is the close of the day before.
  priceUsd:
    priceOf(row.lastTrade?.["p"]) ?? priceOf(row.min?.["c"]) ?? priceOf(row.day?.["c"]) ?? priceOf(row.prevDay?.["c"]),
  previousCloseUsd: priceOf(row.prevDay?.["c"]),
  dayHighUsd: priceOf(row.day?.["h"]),
  dayLowUsd: priceOf(row.day?.["l"]),
  dayVolume: figureOf(row.day?.["v"]),
  changePercentage24h: figureOf(row.todaysChangePerc),
  updatedAt: millisOf(row.updated)
})

const DetailRow = Schema.Struct({
  ticker: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  description: Maybe,
  homepage_url: Maybe,
  list_date: Maybe,
  primary_exchange: Maybe,
  type: Maybe,
  sic_description: Maybe,
  total_employees: Maybe,
  market_cap: Maybe
})

const toDetail = (row: typeof DetailRow.Type): Datasets.StockDetail => ({
  ticker: row.ticker,
  name: row.name,
  description: textOf(row.description),
  homepageUrl: linkOf(row.homepage_url),
  listDate: textOf(row.list_date),
  exchange: textOf(row.primary_exchange),
  typeCode: textOf(row.type),
  industryDescription: textOf(row.sic_description),
  employees: wholeOf(row.total_employees),
  marketCapUsd: priceOf(row.market_cap)
})

const day = Schema.String.check(Schema.isPattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u))
const DividendRow = Schema.Struct({
  cash_amount: Schema.Finite,
  currency: Maybe,
  ex_dividend_date: day,
  pay_date: Maybe
})

const BarRow = Schema.Struct({
  t: Schema.Int,
  o: Schema.Finite,
  h: Schema.Finite,
  l: Schema.Finite,
  c: Schema.Finite,
  v: Maybe
})

const toCandle = ({ c, h, l, o, t, v }: typeof BarRow.Type): Candle | undefined => {
  const [open, high, low, close] = [priceOf(o), priceOf(h), priceOf(l), priceOf(c)]
  if (open === null || high === null || low === null || close === null) return undefined
  return { timestamp: t, open, high, low, close, volume: figureOf(v) }
}

/**
 * Days that are requested, and the length of a candle. The day's reach over a long weekend: its last session is shown.
 */
const spans = {
  day: { days: 5, path: "5/minute" },
  month: { days: 30, path: "1/hour" },
  year: { days: 365, path: "1/day" }
} as const satisfies Record<CandleSpan, { readonly days: number; readonly path: string }>

/** Five-minute candles in a day, at most. */
const dayCandles = 288

/** The last day of trading: candles of the 24 hours before the last one. */
const lastSession = (candles: ReadonlyArray<Candle>): ReadonlyArray<Candle> => {
  const from = (candles.at(-1)?.timestamp ?? 0) - dayMillis
  return candles.filter(({ timestamp }) => timestamp > from).slice(-dayCandles)
}

const missing = (what: string) => () => new MarketDataUnavailable({ reason: `Massive does not know ${what}` })

export const stockJobs = (rest: MassiveRest["Service"]) => {
  const get = <S extends AnswerSchema>(what: string, question: Question<S>) =>
    Effect.flatMap(rest.find(question), (found) =>
      Option.match(found, { onNone: () => Effect.fail(missing(what)()), onSome: Effect.succeed })
    )

  const quotes = (tickers: ReadonlyArray<string>) =>
    Effect.map(
      get("the tickers", {
        path: "/v2/snapshot/locale/us/markets/stocks/tickers",
        params: { tickers: tickers.join(",") },
        schema: Schema.Struct({ tickers: Schema.optionalKey(List) })
      }),
      ({ tickers: rows = [] }) => fetchedItems(SnapshotRow, rows, toQuote)
    )

  const status = Effect.map(
    get("the market's hours", {
      path: "/v1/marketstatus/now",
      schema: Schema.Struct({ market: Datasets.MarketStatus, serverTime: Maybe })
    }),
    ({ market, serverTime }) => ({ status: market, at: timeOf(serverTime) })
  ).pipe(whole)

  const detail = (ticker: string) =>
    Effect.map(
      get(ticker, {
        path: `/v3/reference/tickers/${encodeURIComponent(ticker)}`,
        schema: Schema.Struct({ results: DetailRow })
      }),
      ({ results }) => toDetail(results)
    ).pipe(whole)

  const dividends = (ticker: string) =>
    Effect.gen(function* () {
      const since = DateTime.formatIsoDateUtc(DateTime.makeUnsafe((yield* Clock.currentTimeMillis) - 365 * dayMillis))
      const { results = [] } = yield* get(ticker, {
        path: "/stocks/v1/dividends",
        params: { ticker, "ex_dividend_date.gte": since, sort: "ex_dividend_date.desc", limit: "50" },
        schema: Schema.Struct({ results: Schema.optionalKey(List) })
      })
      return fetchedItems(DividendRow, results, (row) => {
        const amount = priceOf(row.cash_amount)
        if (amount === null) return undefined
        return { amount, currency: textOf(row.currency), exDate: row.ex_dividend_date, payDate: textOf(row.pay_date) }
      })
    })

  const candles = (ticker: string, span: CandleSpan) =>
    Effect.gen(function* () {
      const { days, path } = spans[span]
      const to = yield* Clock.currentTimeMillis
      const { results = [] } = yield* get(ticker, {
        path: `/v2/aggs/ticker/${encodeURIComponent(ticker)}/range/${path}/${to - days * dayMillis}/${to}`,
        params: { adjusted: "true", sort: "asc", limit: "50000" },
        schema: Schema.Struct({ results: Schema.optionalKey(List) })
      })
      const { data, problems } = fetchedItems(BarRow, results, toCandle)
      return { data: span === "day" ? lastSession(data as ReadonlyArray<Candle>) : data, problems }
    })

  return (tickers: ReadonlyArray<string>): ReadonlyArray<MarketDataJob> => [
    datasetJob(Datasets.stockMarketStatus, { priority: 0, fetch: status }),
    ...inRequests(tickers).map((some, index) =>
      datasetJob(Datasets.stockQuotes, { priority: 0, fetch: quotes(some), key: String(index) })
    ),
    ...tickers.map((ticker) => datasetJob(Datasets.stockDetails, { priority: 1, fetch: detail(ticker), key: ticker })),
    ...candleSpans.flatMap((span) =>
      tickers.map((ticker) =>
        datasetJob(stockCandles(span), { priority: span === "day" ? 2 : 3, fetch: candles(ticker, span), key: ticker })
      )
    ),
    ...tickers.map((ticker) =>
      datasetJob(Datasets.stockDividends, { priority: 4, fetch: dividends(ticker), key: ticker })
    )
  ]
}
