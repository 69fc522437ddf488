/** Which assets of a simulation have no feed on chain, so that a guard wants an attested price of them. */
import type { AssetId } from "#domain/values/Caip.ts"
import { baseBtc } from "#test/support/assets.ts"

const assetIds: ReadonlySet<AssetId> = new Set([baseBtc.assetId])

/** Seconds after which a guard takes an attested price no longer. */
export const attestationLife = 600

/** What of the swaps needs an attested price. */
export const attestedIn = (
  swaps: ReadonlyArray<{ readonly sell: AssetId; readonly buy: AssetId }>
): ReadonlyArray<AssetId> => [
  ...new Set(swaps.flatMap(({ buy, sell }) => [sell, buy]).filter((assetId) => assetIds.has(assetId)))
]
