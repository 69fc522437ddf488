/** Port: US dollar prices of assets. */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"

/** A price in US dollars (wad) for one whole token, and when the market showed it. */
export interface Price {
  readonly usd: bigint
  readonly asOf: DateTime.Utc
  /** The source; left out where there is only one. */
  readonly source?: string
  /** A second source whose price differs by more than the deployment tolerates. */
  readonly disputedBy?: { readonly source: string; readonly usd: bigint }
}

/** No real price (wad) comes near it; a false one must not stop the others. */
const limitUsd = 10n ** 45n

export const isPlausiblePrice = (usd: bigint): boolean => usd > 0n && usd < limitUsd

/** Whether a price is of now, so that a value may be made of it. One that is disputed still values. */
export const isFresh = ({ asOf }: Price, staleBefore: number): boolean => asOf.epochMilliseconds >= staleBefore

/** Whether a price may be traded on: recent enough, and not disputed. */
export const mayTradeOn = (price: Price, staleBefore: number): boolean =>
  isFresh(price, staleBefore) && price.disputedBy === undefined

/** Whether two prices are further apart than so many basis points of the lower. */
export const diverge = (a: bigint, b: bigint, toleranceBps: number): boolean => {
  const [low, high] = a < b ? [a, b] : [b, a]
  return (high - low) * 10_000n > low * BigInt(toleranceBps)
}

/** The price source did not answer. */
export class PricesUnavailable extends Schema.TaggedError<PricesUnavailable>()("PricesUnavailable", {
  reason: Schema.String,
  /** The source's own code of its refusal, where it gave one. */
  code: Schema.optionalKey(Schema.Int)
}) {
  override get message() {
    return `Prices are unavailable: ${this.reason}`
  }
}

/**
 * US dollar prices of assets now.
 *
 * **When to use**
 *
 * Use to value and to trade; read all assets of a task in one call. Past days are read from `DailyPriceStore`, what is
 * only shown comes from `ShownPrices`.
 *
 * **Details**
 *
 * Prices are US dollars (wad) for one whole token. Where the source gives none any more, or does not answer, it is the
 * last price that any process saw, with its own time: `isFresh` says whether it is one of now, `mayTradeOn` whether it
 * may be traded on. Fails with `PricesUnavailable` when the source does not answer and no process ever had an answer.
 *
 * **Example** (Fixed prices for a test)
 *
 * ```ts
 * import { DateTime, Effect, Layer } from "effect"
 * import { Prices } from "#domain/market/Prices.ts"
 *
 * // One US dollar for everything
 * const OneDollar = Layer.succeed(Prices, {
 *   latest: (assetIds) =>
 *     Effect.map(DateTime.now, (asOf) => new Map(assetIds.map((assetId) => [assetId, { usd: 10n ** 18n, asOf }])))
 * })
 * ```
 */
export class Prices extends Context.Service<
  Prices,
  {
    /** Latest prices; an asset that the source never listed is absent. */
    readonly latest: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyMap<AssetId, Price>, PricesUnavailable>
  }
>()("ballast/domain/market/Prices") {}
