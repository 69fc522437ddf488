/** The chains and the cache of market data, as lists of chains and assets see them. */
import { Context, Effect, Layer } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainStates } from "#domain/chain/ChainStates.ts"
import { type ShownPrice, ShownPrices } from "#domain/listing/ShownPrices.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

/** What the cache of market data has; a test fills it. */
export class CachedPrices extends Context.Service<CachedPrices, Map<AssetId, ShownPrice>>()(
  "ballast/test/CachedPrices"
) {}

const ChainStatesFake = Layer.effect(
  ChainStates,
  Effect.gen(function* () {
    const environment = yield* TestEnvironment
    const { supported } = yield* Chains
    return ChainStates.of({
      all: Effect.sync(() =>
        supported.map((chainId) => ({ chainId, confirmations: 10, isAvailable: !environment.chainsDown }))
      )
    })
  })
)

const ShownPricesFake = Layer.effect(
  ShownPrices,
  Effect.map(CachedPrices, (prices) => ShownPrices.of({ of: (assetId) => prices.get(assetId) }))
).pipe(Layer.provideMerge(Layer.sync(CachedPrices, () => new Map())))

export const ListingFakes = Layer.merge(ChainStatesFake, ShownPricesFake)
