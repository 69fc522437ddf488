/** The price history of contract tests: what a test puts into the source. */
import { Context, Effect, Layer } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import { type DayPrice, PriceHistory } from "#domain/market/PriceHistory.ts"

export class PastPrices extends Context.Service<
  PastPrices,
  { readonly known: Map<AssetId, ReadonlyArray<DayPrice>> }
>()("ballast/test/PastPrices") {
  /** Provides the knob and the port. */
  static readonly layer = Layer.effect(
    PriceHistory,
    Effect.map(PastPrices, ({ known }) =>
      PriceHistory.of({ daily: (assetId) => Effect.sync(() => known.get(assetId) ?? []) })
    )
  ).pipe(Layer.provideMerge(Layer.sync(PastPrices, () => ({ known: new Map() }))))
}
