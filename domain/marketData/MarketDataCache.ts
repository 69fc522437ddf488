/**
 * The shared cache as this process last saw it. Reads are answered from memory: no request waits for a provider, nor
 * for the database. What is stored but no longer fits its schema counts as absent.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { type Dataset, type Fetched, lifeOf, MarketDataProvider, memberOf } from "#domain/marketData/Dataset.ts"
import { MarketDataStore, type StoredDataset } from "#domain/marketData/MarketDataStore.ts"

const pollInterval = Duration.seconds(2)
/** Datasets in one read. */
const readBatchSize = 50

const isProvider = Schema.is(MarketDataProvider)

interface Held {
  readonly stored: StoredDataset
  /** Value decoded by the schema `by`. */
  decoded: { readonly by: unknown; readonly value: Option.Option<unknown> } | undefined
}

/**
 * The shared cache of market data, in memory.
 *
 * **When to use**
 *
 * Use to answer requests. What fills it is `MarketDataRefresh`.
 */
export class MarketDataCache extends Context.Service<
  MarketDataCache,
  {
    /** A dataset, or one member of a kind; undefined when nothing usable is there. */
    readonly get: <A>(dataset: Dataset<A>, key?: string) => Fetched<A> | undefined
    /** Changes whenever anything in the cache does. */
    readonly revision: () => number
    /** Brings memory up to date with the database. */
    readonly load: Effect.Effect<void>
  }
>()("ballast/domain/marketData/MarketDataCache") {
  static readonly layer = Layer.effect(
    MarketDataCache,
    Effect.gen(function* () {
      const store = yield* MarketDataStore
      const held = new Map<string, Held>()
      let revision = 0

      const load = Effect.gen(function* () {
        const states = (yield* store.states).filter(({ fetchedAt }) => fetchedAt !== null)
        const changed = states.filter(({ name, revision }) => held.get(name)?.stored.revision !== revision)
        for (let first = 0; first < changed.length; first += readBatchSize) {
          const names = changed.slice(first, first + readBatchSize).map(({ name }) => name)
          for (const stored of yield* store.read(names)) held.set(stored.name, { stored, decoded: undefined })
        }
        const present = new Set(states.map(({ name }) => name))
        const gone = [...held.keys()].filter((name) => !present.has(name))
        for (const name of gone) held.delete(name)
        if (changed.length > 0 || gone.length > 0) revision += 1
      }).pipe(Effect.withSpan("MarketDataCache.load"))

      const get = <A>(dataset: Dataset<A>, key?: string): Fetched<A> | undefined => {
        const entry = held.get(key === undefined ? dataset.name : memberOf(dataset, key))
        if (entry === undefined || !isProvider(entry.stored.provider)) return undefined
        if (entry.decoded?.by !== dataset.name) {
          const value = Schema.decodeUnknownOption(dataset.schema)(entry.stored.data)
          entry.decoded = { by: dataset.name, value }
        }
        if (Option.isNone(entry.decoded.value)) return undefined
        const { fetchedAt, provider } = entry.stored
        return {
          data: entry.decoded.value.value as A,
          provider,
          fetchedAt,
          expiresAt: DateTime.add(fetchedAt, { milliseconds: lifeOf(dataset.interval) })
        }
      }

      return MarketDataCache.of({ get, revision: () => revision, load })
    })
  )

  /** Loads at the start, and again and again; while the database is down what is in memory stays. */
  static readonly fiber = Layer.effectDiscard(
    Effect.flatMap(MarketDataCache, ({ load }) =>
      keepGoingEvery(load, { complaint: "The cache of market data could not be read", interval: pollInterval })
    )
  )
}
