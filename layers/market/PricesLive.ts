/**
 * Prices for the whole process: cached for as long as the source's terms say, with one request however many callers
 * wait.
 *
 * When the source fails, the last price goes out with its own time, and the domain judges whether it is too old. Absent
 * means that the source never listed the asset; where nothing at all is known because the source failed, the whole call
 * fails, so that an outage is never taken for a worthless asset.
 */
import { Array, Clock, Deferred, Duration, Effect, Layer } from "effect"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { keptPrices, newest, type Outcome } from "#layers/market/keptPrices.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

/** Time after a failure for which the cached price goes out without a request. */
const pauseAfterFailure = Duration.toMillis(Duration.seconds(3))
const maxCached = 20_000

/** The last price (`null`: the source never listed the asset), and when to request again. */
interface Answer {
  readonly price: Price | null
  readonly requestAgainAt: number
}

type Batch = Deferred.Deferred<Outcome>

export const PricesLive = Layer.effect(
  Prices,
  Effect.gen(function* () {
    const source = yield* PriceSource
    const fetch = yield* keptPrices
    const scope = yield* Effect.scope
    const answers = new Map<AssetId, Answer>()
    const inFlight = new Map<AssetId, Batch>()

    /** Insertion order is age, so the first entries are the ones to evict. */
    const cache = (assetId: AssetId, answer: Answer) => {
      answers.delete(assetId)
      answers.set(assetId, answer)
      for (const oldest of answers.keys()) {
        if (answers.size <= maxCached) break
        answers.delete(oldest)
      }
    }

    const recordAnswers = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>, { failure, known }: Outcome) {
      const { freshForMs } = yield* source.terms
      const requestAgainAt = (yield* Clock.currentTimeMillis) + (failure === null ? freshForMs : pauseAfterFailure)
      for (const assetId of assetIds) {
        inFlight.delete(assetId)
        const [seen, last] = [known.get(assetId), answers.get(assetId)?.price]
        if (seen !== undefined || last !== undefined) {
          cache(assetId, { price: newest(seen ?? null, last ?? null), requestAgainAt })
        }
      }
    })

    /** Runs in the scope of the service: a caller that goes away does not take the others' answer with it. */
    const ask = (chainId: ChainId, assetIds: ReadonlyArray<AssetId>, batch: Batch) =>
      fetch(chainId, assetIds).pipe(
        Effect.tap((outcome) => recordAnswers(assetIds, outcome)),
        Effect.ensuring(Effect.sync(() => assetIds.forEach((assetId) => inFlight.delete(assetId)))),
        Effect.onExit((exit) => Deferred.done(batch, exit)),
        Effect.exit,
        Effect.forkIn(scope)
      )

    /** The batch of each asset: the one in flight, or a new one. In one step, so that no answer can fall in between. */
    const askFor = Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
      const { batchSize } = yield* source.terms
      const started: Array<readonly [ChainId, ReadonlyArray<AssetId>, Batch]> = []
      for (const [chainId, ofChain] of Map.groupBy(
        assetIds.filter((assetId) => !inFlight.has(assetId)),
        chainIdOf
      )) {
        for (const chunk of Array.chunksOf(ofChain, batchSize)) {
          const batch: Batch = Deferred.makeUnsafe()
          for (const assetId of chunk) inFlight.set(assetId, batch)
          started.push([chainId, chunk, batch])
        }
      }
      const batches = assetIds.map((assetId) => [assetId, inFlight.get(assetId)!] as const)
      for (const [chainId, chunk, batch] of started) yield* ask(chainId, chunk, batch)
      return batches
    }, Effect.uninterruptible)

    const latest = Effect.fn("Prices.latest")(function* (requested: ReadonlyArray<AssetId>) {
      const now = yield* Clock.currentTimeMillis
      const assetIds = [...new Set(requested)]
      const known = new Map<AssetId, Price | null>()
      for (const assetId of assetIds) {
        const answer = answers.get(assetId)
        if (answer !== undefined && answer.requestAgainAt > now) known.set(assetId, answer.price)
      }
      const missing = assetIds.filter((assetId) => !known.has(assetId))
      for (const [assetId, batch] of yield* askFor(missing)) {
        const { failure, known: seen } = yield* Deferred.await(batch)
        const answer = answers.get(assetId)
        const price = answer === undefined ? seen.get(assetId) : answer.price
        if (price === undefined && failure !== null) return yield* failure
        known.set(assetId, price ?? null)
      }
      return new Map([...known].flatMap(([assetId, price]) => (price === null ? [] : [[assetId, price] as const])))
    })

    return Prices.of({ latest })
  })
)
