/**
 * What a source answers, completed by the last prices of the deployment. A source that does not answer, or answers
 * without an asset that it listed before, leaves the last price with its own time, the same in every process.
 */
import { Array, DateTime, Duration, Effect } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { type AnsweredPrices, LastPriceStore } from "#domain/market/LastPriceStore.ts"
import type { Price, PricesUnavailable } from "#domain/market/Prices.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

/** Callers wait for prices; a database that is slow costs them the memory of other processes, no more. */
const storeTimeout = Duration.seconds(2)

/** What is known once a request is over, and why nothing is known of an asset that is absent. */
export interface Outcome {
  readonly known: AnsweredPrices
  readonly failure: PricesUnavailable | null
}

export const newest = (a: Price | null, b: Price | null): Price | null =>
  a === null || b === null ? (a ?? b) : a.asOf.epochMilliseconds >= b.asOf.epochMilliseconds ? a : b

export const keptPrices = Effect.gen(function* () {
  const source = yield* PriceSource
  const store = yield* LastPriceStore

  const within = <A>(what: string, access: Effect.Effect<A>, otherwise: A) =>
    access.pipe(
      Effect.timeout(storeTimeout),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning(`The last prices could not be ${what}`, cause), otherwise)
      )
    )

  const read = (assetIds: ReadonlyArray<AssetId>) =>
    Array.isReadonlyArrayNonEmpty(assetIds)
      ? within<AnsweredPrices>("read", store.read(assetIds), new Map())
      : Effect.succeed<AnsweredPrices>(new Map())

  const keep = (answers: AnsweredPrices) =>
    Effect.flatMap(DateTime.now, (now) => within("kept", store.keep(answers, now), undefined))

  return Effect.fnUntraced(function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
    const result = yield* Effect.result(source.fetch(chainId, assetIds))
    if (result._tag === "Failure") {
      yield* Effect.logWarning(result.failure.message, { chainId, assets: assetIds.length })
      return { known: yield* read(assetIds), failure: result.failure } satisfies Outcome
    }
    const answered = new Map(assetIds.map((assetId) => [assetId, result.success.get(assetId) ?? null] as const))
    yield* keep(answered)
    const last = yield* read(assetIds.filter((assetId) => answered.get(assetId) === null))
    const known = new Map(
      [...answered].map(([assetId, price]) => [assetId, price ?? last.get(assetId) ?? null] as const)
    )
    return { known, failure: null } satisfies Outcome
  })
})
