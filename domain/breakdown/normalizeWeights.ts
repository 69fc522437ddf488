/** Weights in any unit as shares of their absolute sum. Source: docs/decisions/0013. */
import * as Decimal from "#domain/values/Decimal.ts"
import { apportion } from "#domain/breakdown/apportion.ts"
import type { HoldingInput } from "#domain/breakdown/Breakdown.ts"

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

const idOf = ({ assetCanonicalId, caipAssetId }: HoldingInput): string => assetCanonicalId ?? caipAssetId

/** Zero only for holdings of one asset and weight, for which it does not matter which of them gets a last digit. */
const compare = (a: HoldingInput, b: HoldingInput): number => {
  if (idOf(a) !== idOf(b)) return idOf(a) < idOf(b) ? -1 : 1
  return a.weight === b.weight ? 0 : a.weight < b.weight ? -1 : 1
}

/** Sum of the absolute weights. Zero means that there is nothing to share. */
export const sourceTotal = (holdings: ReadonlyArray<HoldingInput>): bigint =>
  holdings.reduce((sum, { weight }) => sum + magnitude(weight), 0n)

/**
 * The share of each holding in wad, with the sign of its weight. The absolute values sum to exactly one, and neither
 * the order of the holdings nor the unit of their weights changes a share. Needs a `sourceTotal` above zero.
 */
export const normalizeWeights = (holdings: ReadonlyArray<HoldingInput>): ReadonlyArray<bigint> => {
  const shares = apportion(
    Decimal.one,
    holdings.map(({ weight }) => magnitude(weight)),
    (a, b) => compare(holdings[a]!, holdings[b]!)
  )
  return holdings.map(({ weight }, index) => (weight < 0n ? -shares[index]! : shares[index]!))
}
