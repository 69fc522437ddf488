/** What an account holds by its last valuation and our own trades alone, with nothing that came in or went out. */
import * as Amount from "#domain/values/Amount.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import type { HeldAssetId } from "#domain/values/Caip.ts"
import type { HeldAsset } from "#domain/performance/Valuation.ts"

/** All values are US dollars (wad), at the prices of now; an asset without one counts at its last. */
export interface CarriedOver {
  /** What is left of each asset, less what was sold beyond it. */
  readonly valueUsd: bigint
  /** What was sold beyond what was there: money that came in and was traded before it was ever valued. */
  readonly oversoldUsd: bigint
  /** An asset was traded that has no price, so the worth of the trade is not known. */
  readonly isUnpriced: boolean
}

/** What assets are, and are worth now. */
export interface PricedAssets {
  readonly catalogue: ReadonlyMap<HeldAssetId, Pick<Asset, "decimals">>
  /** US dollars (wad) for one whole token. */
  readonly prices: ReadonlyMap<HeldAssetId, bigint>
}

/** What is known of an account without reading it again. */
export interface KnownAccount {
  /** Holdings at its last valuation. */
  readonly holdings: ReadonlyArray<HeldAsset>
  /** What our own trades since then changed of each asset, in its smallest unit. */
  readonly traded: ReadonlyMap<HeldAssetId, bigint>
}

export const carriedOver = ({ holdings, traded }: KnownAccount, { catalogue, prices }: PricedAssets): CarriedOver => {
  const lastHeld = new Map(holdings.map((held) => [held.assetId, held]))
  let [valueUsd, oversoldUsd, isUnpriced] = [0n, 0n, false]
  for (const assetId of new Set([...lastHeld.keys(), ...traded.keys()])) {
    const held = lastHeld.get(assetId)
    const raw = (held?.raw ?? 0n) + (traded.get(assetId) ?? 0n)
    const decimals = catalogue.get(assetId)?.decimals ?? held?.decimals
    // A token that is not in the catalogue has no value here, whatever moved it.
    if (decimals === undefined || raw === 0n) continue
    const priceUsd = prices.get(assetId) ?? held?.priceUsd
    if (priceUsd === undefined) {
      isUnpriced = true
      continue
    }
    const assetUsd = Amount.valueUsd(raw, decimals, priceUsd)
    valueUsd += assetUsd
    if (assetUsd < 0n) oversoldUsd -= assetUsd
  }
  return { valueUsd, oversoldUsd, isUnpriced }
}
