/** The service's index over a filled database, built in this process. */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { IssuerPoliciesLive } from "#layers/catalogue/IssuerPoliciesLive.ts"
import { SubjectFactsLive } from "#layers/catalogue/SubjectFactsLive.ts"
import * as ListedAssets from "#layers/sql/asset/ListedAssets.ts"
import * as MarketDataStore from "#layers/sql/marketData/MarketDataStore.ts"

const services = (url: string) =>
  AssetSearch.layer.pipe(
    Layer.provideMerge(AssetIndex.layer),
    Layer.provideMerge(MarketDataCache.layer),
    Layer.provide([SubjectFactsLive, IssuerPoliciesLive(null)]),
    Layer.provide([ListedAssets.layer, MarketDataStore.layer]),
    Layer.provide(databaseLayer(url)),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

/** Index and search of the filled database. */
export const indexOf = Effect.fnUntraced(function* (url: string) {
  return yield* Effect.gen(function* () {
    const index = yield* AssetIndex
    yield* (yield* MarketDataCache).load
    yield* index.load
    return { snapshot: index.current(), search: yield* AssetSearch }
  }).pipe(Effect.provide(services(url)))
})

export const snapshotOf = (url: string) => Effect.map(indexOf(url), ({ snapshot }) => snapshot)
