/** Holdings as the catalogue lists them, each with its share of the whole. */
import type { CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { Resolved } from "#domain/asset/Catalogue.ts"
import type { BreakdownHolding, Diagnostics, HoldingInput } from "#domain/breakdown/Breakdown.ts"
import { normalizeWeights } from "#domain/breakdown/normalizeWeights.ts"

/** A holding, and the asset that it is of. */
export interface ResolvedHolding {
  readonly holding: BreakdownHolding
  readonly subject: CanonicalAsset
}

interface Described {
  readonly holdings: ReadonlyArray<BreakdownHolding>
  readonly resolved: ReadonlyArray<ResolvedHolding>
  readonly unresolved: Diagnostics["unresolved"]
}

/** The subject of a holding and the symbol to show, when the catalogue lists it. */
const subjectOf = (
  { assetCanonicalId, caipAssetId }: HoldingInput,
  { canonical, represented }: Resolved
): { readonly subject: CanonicalAsset; readonly symbol: string } | undefined => {
  if (caipAssetId === null) {
    const subject = canonical.get(assetCanonicalId)
    return subject === undefined ? undefined : { subject, symbol: subject.symbol }
  }
  const subject = represented.get(caipAssetId)
  return subject === undefined ? undefined : { subject, symbol: subject.symbolOnChain }
}

const reasonUnresolved = ({ caipAssetId }: HoldingInput): string =>
  caipAssetId === null
    ? "no asset with this assetCanonicalId is known; check the id"
    : "no asset is known for this caipAssetId; check chain and address, or name its assetCanonicalId"

/** Needs holdings that are not all of zero weight. */
export const describeHoldings = (inputs: ReadonlyArray<HoldingInput>, known: Resolved): Described => {
  const weights = normalizeWeights(inputs)
  const resolved: Array<ResolvedHolding> = []
  const unresolved: Array<Diagnostics["unresolved"][number]> = []
  const holdings = inputs.map((input, inputIndex) => {
    const found = subjectOf(input, known)
    const holding: BreakdownHolding = {
      inputIndex,
      assetCanonicalId: found?.subject.assetCanonicalId ?? input.assetCanonicalId,
      caipAssetId: input.caipAssetId,
      symbol: found?.symbol ?? input.symbol,
      name: found?.subject.name ?? null,
      normalizedWeight: weights[inputIndex]!,
      sourceValue: input.weight
    }
    if (found === undefined) unresolved.push({ holding, reason: reasonUnresolved(input) })
    else resolved.push({ holding, subject: found.subject })
    return holding
  })
  return { holdings, resolved, unresolved }
}
