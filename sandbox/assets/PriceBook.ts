import type * as Caip from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { splCatalog } from "#sandbox/assets/splCatalog.ts"

/** A price from a moment of the world's time on. */
export interface PricePoint {
  readonly at: number
  readonly priceUsd: bigint
}

const dayMillis = 86_400_000
/** Enough for a change every minute of a day and more; older points are merged away. */
const historyLimit = 2_000

/** What every asset costs (US dollars, wad), with the changes of the last day. The one source of pools and feeds. */
export class PriceBook {
  readonly #points = new Map<Caip.AssetId, ReadonlyArray<PricePoint>>()

  constructor(saved: Iterable<readonly [Caip.AssetId, ReadonlyArray<PricePoint>]> = []) {
    for (const token of [...catalog.flatMap((chain) => chain.tokens), ...splCatalog]) {
      this.#points.set(token.assetId, [{ at: 0, priceUsd: token.initialPriceUsd }])
    }
    for (const [assetId, points] of saved) if (points.length > 0) this.#points.set(assetId, points)
  }

  /** The present price of an asset of the catalogue. */
  price(assetId: Caip.AssetId): bigint {
    return this.#points.get(assetId)!.at(-1)!.priceUsd
  }

  /** Sets the price from `now` (milliseconds of the world's time) on. */
  set(assetId: Caip.AssetId, priceUsd: bigint, now: number): void {
    const points = this.#points.get(assetId)!
    const dayAgo = now - dayMillis
    const firstNeeded = Math.max(
      0,
      points.findLastIndex((point) => point.at <= dayAgo),
      points.length - historyLimit
    )
    this.#points.set(assetId, [...points.slice(firstNeeded), { at: now, priceUsd }])
  }

  /** Change over the 24 hours before `now` in percent, as a wad (`5` percent is `5 * 10 ** 18`). */
  dayChangePercent(assetId: Caip.AssetId, now: number): bigint {
    const points = this.#points.get(assetId)!
    const before = (points.findLast((point) => point.at <= now - dayMillis) ?? points[0]!).priceUsd
    return ((this.price(assetId) - before) * 100n * Decimal.one) / before
  }

  /** All points, to be saved. */
  entries(): ReadonlyArray<readonly [Caip.AssetId, ReadonlyArray<PricePoint>]> {
    return [...this.#points]
  }
}
