import { Effect } from "effect"
import { type Dataset, type MarketDataUnavailable, memberOf } from "#domain/marketData/Dataset.ts"
import type { FetchedData, MarketDataJob } from "#domain/marketData/MarketDataJobs.ts"

/** Ids, contracts or tickers in one request. */
const perRequest = 100

/** How a dataset is filled. */
interface Filling extends Pick<MarketDataJob, "priority" | "fetch"> {
  /** Member of a kind of datasets. */
  readonly key?: string
}

/** The request that fills a dataset, or one member of a kind of them. */
export const datasetJob = (
  { interval, name, provider }: Dataset<unknown>,
  { fetch, key, priority }: Filling
): MarketDataJob => ({
  name: key === undefined ? name : memberOf({ name }, key),
  provider,
  interval,
  priority,
  fetch
})

/** What is fetched as one thing, none of which can be left out. */
export const whole = <A>(
  fetch: Effect.Effect<A, MarketDataUnavailable>
): Effect.Effect<FetchedData, MarketDataUnavailable> => Effect.map(fetch, (data) => ({ data, problems: [] }))

/** Splits into as many as one request may name, in the order in which they came. */
export const inRequests = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / perRequest) }, (_, index) =>
    items.slice(index * perRequest, (index + 1) * perRequest)
  )
