/**
 * Market data is kept as named datasets, each fetched as a whole from one provider: a page of coins, the candles of one
 * share. What providers say is decoded once, when it is fetched; readers see the schema here.
 */
import { type DateTime, Duration, Schema } from "effect"

/** How often what changes all day is fetched. Source: interface "Public crypto market data procedures". */
export const refreshInterval = Duration.minutes(10)

/** The provider gave no answer that can be used. */
export class MarketDataUnavailable extends Schema.TaggedError<MarketDataUnavailable>()("MarketDataUnavailable", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** One item of an answer that lacks what its dataset needs; the others of the answer are kept. */
export class ItemMalformed extends Schema.TaggedError<ItemMalformed>()("ItemMalformed", {
  item: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.item}: ${this.reason}`
  }
}

export const MarketDataProvider = Schema.Literals(["coingecko", "massive", "coinbase", "xstocks"])
export type MarketDataProvider = typeof MarketDataProvider.Type

/** A kind of dataset. `name` is the kind's, or for a kind with many members the part before the member's key. */
export interface Dataset<A> {
  readonly name: string
  readonly provider: MarketDataProvider
  readonly schema: Schema.Decoder<A>
  readonly interval: Duration.Duration
}

/** The interval is `refreshInterval` when left out. */
export const dataset = <A>({
  interval = refreshInterval,
  ...named
}: Omit<Dataset<A>, "interval"> & Partial<Pick<Dataset<A>, "interval">>): Dataset<A> => ({ ...named, interval })

/** The name of one member of a kind of datasets. */
export const memberOf = ({ name }: { readonly name: string }, key: string): string => `${name}:${key}`

/** A dataset as it was fetched last. */
export interface Fetched<A> {
  readonly data: A
  readonly provider: MarketDataProvider
  readonly fetchedAt: DateTime.Utc
  /** One and a half intervals after it was fetched: when at least one refresh has failed for a while. */
  readonly expiresAt: DateTime.Utc
}

/** Milliseconds after which data of this interval has missed a refresh. */
export const lifeOf = (interval: Duration.Duration): number => Math.round(Duration.toMillis(interval) * 1.5)
