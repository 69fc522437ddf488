/** What makes an allocation valid, in the order in which it is checked. Source: shapes 2.4. */
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetId } from "#domain/Caip.ts"
import type { Allocation } from "#domain/Allocation.ts"
import * as Weight from "#domain/Weight.ts"

/** Most assets that one allocation may name. */
export const maxAssets = 50

/** Assets that the catalogue does not know, or that must not be bought. */
const assetGate = (allocation: Allocation, known: ReadonlyMap<AssetId, Asset>): ReadonlyArray<string> =>
  allocation.flatMap(({ assetId }, index) => {
    const asset = known.get(assetId)
    if (asset === undefined) return [`allocation.assets.${index}.assetId: unknown asset ${assetId}`]
    return asset.isBlocked ? [`allocation.assets.${index}.assetId: blocked asset ${assetId}`] : []
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
export const problemsOf = (allocation: Allocation, known: ReadonlyMap<AssetId, Asset>): ReadonlyArray<string> => {
  const gate = assetGate(allocation, known)
  return gate.length > 0 ? gate : structure(allocation)
}
