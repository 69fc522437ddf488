/** What makes an allocation valid, in the order in which it is checked. Source: shapes 2.4. */
import type { Asset } from "#domain/asset/Asset.ts"
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import * as Weight from "#domain/values/Weight.ts"

/** Most assets that one allocation may name. */
export const maxAllocationAssets = 50

/** What a deployment can trade: the chains that it serves, and the assets of the request that it lists. */
export interface Tradable {
  readonly supported: ReadonlyArray<ChainId>
  readonly known: ReadonlyMap<AssetId, Asset>
  /** Listed, and their chains have not said yet what they are; none when left out. */
  readonly unanswered?: ReadonlyArray<AssetId>
}

/**
 * Why an asset that is not known is none: its chain is not served, or the chain is and the asset is not listed there.
 */
const unknownReason = (assetId: AssetId, supported: ReadonlyArray<ChainId>): string =>
  supported.includes(chainIdOf(assetId))
    ? `unknown asset ${assetId}; its chain is supported, but no token list names it`
    : `unsupported chain ${chainIdOf(assetId)} of ${assetId}; supported chains are ${supported.join(", ")}`

/** Assets on chains that are not served, assets that are not known, and those that must not be bought. */
const assetGate = (allocation: Allocation, { known, supported, unanswered = [] }: Tradable): ReadonlyArray<string> =>
  allocation.flatMap(({ assetId }, index) => {
    const asset = known.get(assetId)
    const field = `allocation.assets.${index}.assetId`
    if (asset === undefined) return [`${field}: ${unknownReason(assetId, supported)}`]
    if (unanswered.includes(assetId)) {
      return [`${field}: unchecked asset ${assetId}; its chain has not said yet what it is; send it again in a minute`]
    }
    const reason = asset.refusal === undefined ? "" : `; ${asset.refusal}`
    return asset.isBlocked ? [`${field}: blocked asset ${assetId}${reason}`] : []
  })

/** Duplicates, and a sum of weights other than 100 percent. */
const structure = (allocation: Allocation): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const seen = new Set<AssetId>()
  for (const [index, { assetId }] of allocation.entries()) {
    if (seen.has(assetId)) problems.push(`allocation.assets.${index}.assetId: duplicate asset ${assetId}`)
    seen.add(assetId)
  }
  const sum = allocation.reduce((total, { weight }) => total + weight, 0)
  if (sum !== Weight.full) problems.push(`allocation.assets: weights sum to ${Weight.format(sum)}, expected 100.00`)
  return problems
}

/** All problems of the first gate that finds any; none means that the allocation is valid. */
export const allocationProblems = (allocation: Allocation, tradable: Tradable): ReadonlyArray<string> => {
  const gate = assetGate(allocation, tradable)
  return gate.length > 0 ? gate : structure(allocation)
}
