/** Port: the last price of each asset that any process of the deployment saw. */
import { Context, type DateTime, Effect, Layer } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { Price } from "#domain/market/Prices.ts"

/** What the source answered of assets: null of one that it does not list. */
export type AnsweredPrices = ReadonlyMap<AssetId, Price | null>

/**
 * The last price of each asset, with the time at which the market showed it.
 *
 * **When to use**
 *
 * Use in the adapter of `Prices` alone, so that a source that does not answer leaves every process, and one that was
 * started again, with the same prices. Prices of past days are `DailyPriceStore`.
 */
export class LastPriceStore extends Context.Service<
  LastPriceStore,
  {
    /** Keeps what is newer than what is there. That an asset is not listed replaces no price of it. */
    readonly keep: (answers: AnsweredPrices, at: DateTime.Utc) => Effect.Effect<void>
    /** An asset of which no process has had an answer is absent. */
    readonly read: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<AnsweredPrices>
  }
>()("ballast/domain/market/LastPriceStore") {
  /** Layer of a process without a database: it knows what it saw itself. */
  static readonly none = Layer.succeed(LastPriceStore, {
    keep: () => Effect.void,
    read: () => Effect.succeed(new Map())
  })
}
