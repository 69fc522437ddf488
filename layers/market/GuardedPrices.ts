/**
 * Prices of a source, each compared with a second one. One that differs by more than the tolerance is marked as
 * disputed, and nothing is traded on it. Where the second source is silent the price counts as it is: a guard that is
 * down must not stop rebalances that the first source alone would have allowed.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { diverge, type Price } from "#domain/market/Prices.ts"
import { PriceCheck } from "#layers/market/PriceCheck.ts"
import { PriceSource } from "#layers/market/PriceSource.ts"

/** How long an answer of the second source may agree; a disagreement needs a new one. */
const checkLife = Duration.toMillis(Duration.seconds(60))
const maxChecks = 20_000
const concurrency = 8

export const GuardedPrices = Layer.effect(
  PriceSource,
  Effect.gen(function* () {
    const first = yield* PriceSource
    const { priceOf, source, toleranceBps } = yield* PriceCheck
    if (source === null) return first
    const checks = new Map<AssetId, { readonly usd: bigint | undefined; readonly at: number }>()

    const ask = Effect.fnUntraced(function* (assetId: AssetId) {
      const usd = yield* priceOf(assetId)
      checks.delete(assetId)
      checks.set(assetId, { usd, at: yield* Clock.currentTimeMillis })
      for (const oldest of checks.keys()) {
        if (checks.size <= maxChecks) break
        checks.delete(oldest)
      }
      return usd
    })

    const compare = Effect.fnUntraced(function* (assetId: AssetId, price: Price) {
      const now = yield* Clock.currentTimeMillis
      const known = checks.get(assetId)
      if (known !== undefined && now - known.at < checkLife) {
        if (known.usd === undefined || !diverge(price.usd, known.usd, toleranceBps)) return price
      }
      const usd = yield* ask(assetId)
      if (usd === undefined || !diverge(price.usd, usd, toleranceBps)) return price
      yield* Effect.logWarning("Two sources disagree on a price; nothing is traded on it", {
        assetId,
        [price.source ?? "price source"]: String(price.usd),
        [source]: String(usd)
      })
      return { ...price, disputedBy: { source, usd } }
    })

    const fetch = Effect.fnUntraced(function* (chainId: ChainId, assetIds: ReadonlyArray<AssetId>) {
      const prices = yield* first.fetch(chainId, assetIds)
      const compared = yield* Effect.forEach(
        [...prices],
        ([assetId, price]) => Effect.map(compare(assetId, price), (checked) => [assetId, checked] as const),
        { concurrency }
      )
      return new Map(compared)
    })

    return PriceSource.of({ terms: first.terms, fetch })
  })
)
