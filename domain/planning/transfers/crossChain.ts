/**
 * How far whole chains stay from their share of the portfolio, and why.
 *
 * This only reports: what transfers leave undone, or cannot do. Chains that could not be read are left out on both
 * sides: their value is unknown, and what the others hold is shared among the others.
 */
import type { ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { movableUsd } from "#domain/planning/transfers/bridgeAssets.ts"
import { type ChainBalance, chainBalances } from "#domain/planning/transfers/chainBalances.ts"
import type { ChainView } from "#domain/planning/ChainView.ts"
import type { TransferLeg, TransferTerms } from "#domain/planning/Plan.ts"
import { type Skip, SkipCode } from "#domain/values/Skip.ts"
import { dustUsd } from "#domain/planning/Tolerance.ts"

/**
 * How value moves in this plan: not at all for this portfolio, not while an earlier transfer is unclear, not on what
 * could be read, or by these terms.
 */
export type Movement =
  | { readonly _tag: "None" }
  | { readonly _tag: "Unclear" }
  | { readonly _tag: "Incomplete" }
  | { readonly _tag: "Open"; readonly terms: TransferTerms; readonly minUsd: bigint }

const dollars = (usd: bigint): string => `${Decimal.format(usd < 0n ? -usd : usd, 2)} USD`

const isUnbuyable = ({ canBuy, weight }: ChainView["positions"][number]) => weight > 0n && !canBuy

const noRoute = "no acceptable route was found for the transfer that would settle it: the next run asks for one again."

/**
 * Why a chain keeps more than its share. `spareUsd` is what of it may be sold and is needed by no target of its own.
 */
const surplusReason = ({ bridgeAsset, spareUsd, view }: ChainBalance, minUsd: bigint, isRefused: boolean): string => {
  if (bridgeAsset === undefined) {
    return "nothing can leave the chain: its transfer asset is blocked, has no fresh price, or may not leave."
  }
  if (spareUsd < minUsd) {
    const spare = spareUsd > 0n ? `only ${dollars(spareUsd)} of it` : "none of it"
    return `${spare} may be sold and is not needed by the chain's own targets, less than the minimum transfer of ${dollars(minUsd)}.`
  }
  const movable = movableUsd(view, bridgeAsset)
  if (movable < minUsd) {
    return `only ${dollars(movable)} of it can leave now: the rest has not arrived, or may not be sold for the transfer asset.`
  }
  if (isRefused) return noRoute
  return "no other chain lacks enough that may be bought there, or too little could be sold for a transfer."
}

/** Why a chain gets less than its share. */
const gapReason = ({ bridgeAsset, spareUsd, view }: ChainBalance, minUsd: bigint, isRefused: boolean): string => {
  if (bridgeAsset === undefined) {
    return "nothing can come to the chain: its transfer asset is blocked, has no fresh price, or may not be sent here."
  }
  const unbuyable = view.positions.filter(isUnbuyable).map(({ assetId }) => assetId)
  if (-spareUsd < minUsd && unbuyable.length > 0) {
    const lack = spareUsd < 0n ? dollars(spareUsd) : "nothing"
    const rest = `What is missing of ${unbuyable.join(", ")} cannot be bought now: blocked, not authorized, or without a fresh price.`
    return `its targets that may be bought lack ${lack} that a transfer could bring, and the minimum transfer is ${dollars(minUsd)}. ${rest}`
  }
  if (isRefused) return noRoute
  return `no other chain can send it: a transfer needs ${dollars(minUsd)} above the sender's own targets that may be sold.`
}

const reasonFor = (overUsd: bigint, movement: Movement, balance: ChainBalance | undefined): string => {
  const off = `The chain holds ${dollars(overUsd)} ${overUsd > 0n ? "more" : "less"} than its share of the portfolio`
  if (movement._tag === "Unclear")
    return `${off}; nothing moves between chains until it is clear where an earlier transfer is.`
  if (movement._tag === "Incomplete")
    return `${off}; nothing moves between chains until every chain is read and every target that is held has a price.`
  if (movement._tag === "None" || balance === undefined)
    return `${off}; ${overUsd > 0n ? "the surplus stays until it can be moved to another chain" : "the gap stays until value can be moved from another chain"}.`
  const { minUsd, terms } = movement
  const { chainId } = balance.view
  const isRefused = terms.refused?.some(({ from, to }) => (overUsd > 0n ? from : to) === chainId) === true
  const reason = overUsd > 0n ? surplusReason(balance, minUsd, isRefused) : gapReason(balance, minUsd, isRefused)
  return `${off}; ${reason}`
}

const tooLittleFor = (overUsd: bigint, minUsd: bigint): string =>
  `The chain is ${dollars(overUsd)} off its share of the portfolio, less than the minimum transfer of ${dollars(minUsd)}.`

/** One skip for each chain that `transfers` leave off its share by the threshold or more, by chain. */
export const crossChain = (
  views: ReadonlyArray<ChainView>,
  { movement, transfers }: { readonly movement: Movement; readonly transfers: ReadonlyArray<TransferLeg> },
  thresholdUsd: bigint
): ReadonlyMap<ChainId, Skip> => {
  const totalUsd = views.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
  const totalWeight = views.reduce((sum, one) => sum + one.weight, 0n)
  const gainUsd = ({ chainId }: ChainView): bigint =>
    transfers.reduce(
      (sum, { fromChainId, toChainId, valueUsd }) =>
        sum + (toChainId === chainId ? valueUsd : 0n) - (fromChainId === chainId ? valueUsd : 0n),
      0n
    )
  const balances =
    movement._tag === "Open" && totalWeight > 0n
      ? chainBalances(views, movement.terms, { totalUsd, weight: totalWeight })
      : undefined
  const minUsd = thresholdUsd > dustUsd ? thresholdUsd : dustUsd
  const skips = new Map<ChainId, Skip>()
  for (const [index, view] of views.entries()) {
    const { chainId, valueUsd, weight } = view
    const shareUsd = totalWeight === 0n ? 0n : (totalUsd * weight) / totalWeight
    const overUsd = valueUsd + gainUsd(view) - shareUsd
    const magnitude = overUsd < 0n ? -overUsd : overUsd
    if (magnitude < minUsd) continue
    const isTooLittle = movement._tag === "Open" && magnitude < movement.minUsd
    const balance = balances?.[index]
    const left = balance && { ...balance, spareUsd: balance.spareUsd + gainUsd(view) }
    skips.set(chainId, {
      chainId,
      assetId: null,
      code: isTooLittle ? SkipCode.belowMinTransfer : SkipCode.crossChainPending,
      valueUsd: overUsd,
      reason: isTooLittle ? tooLittleFor(overUsd, movement.minUsd) : reasonFor(overUsd, movement, left)
    })
  }
  return skips
}
