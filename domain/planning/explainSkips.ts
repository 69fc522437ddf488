/**
 * Describes what the plan of a chain leaves off target.
 */
import type { ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Unvalued } from "#domain/planning/ChainView.ts"
import type { Leg } from "#domain/planning/Plan.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import { type Skip, SkipCode } from "#domain/values/Skip.ts"
import { dustUsd, type Tolerance } from "#domain/planning/Tolerance.ts"

const dollars = (usd: bigint): string => `${Decimal.format(usd < 0n ? -usd : usd, 2)} USD`

/** One sentence for each obstacle; the asset is named by the skip itself. */
const obstacleReason = (code: SkipCode, off: string, foreignAuthority?: string): string => {
  switch (code) {
    case SkipCode.missingPrice:
      return `${off}, but it has no price: its share stays unspent until a price source lists it.`
    case SkipCode.stalePrice:
      return `${off}, but its price is too old to trade on: it waits for a fresh price.`
    case SkipCode.foreignAuthority:
      return `${off}, but ${foreignAuthority} may move it or close its account, which the service never allows: withdraw it, deposit nothing, and replace the agent's key.`
    case SkipCode.assetBlocked:
      return `${off}, but it is blocked from trading: it is kept as it is until the block is lifted.`
    default:
      return `${off}, but the account's on-chain policy does not let the agent buy it: the owner has to authorize it.`
  }
}

const explain = (
  position: PlanPosition,
  deviationUsd: bigint,
  { tradeUsd }: Tolerance
): Pick<Skip, "code" | "reason"> => {
  const isAbove = deviationUsd > 0n
  const magnitude = isAbove ? deviationUsd : -deviationUsd
  const off = `The asset is ${dollars(magnitude)} ${isAbove ? "above" : "below"} its target`
  const { obstacle } = position
  if (obstacle === SkipCode.missingPrice) return { code: obstacle, reason: obstacleReason(obstacle, off) }
  if (magnitude < tradeUsd) {
    return { code: SkipCode.belowMinTrade, reason: `${off}, less than the minimum trade of ${dollars(tradeUsd)}.` }
  }
  if (obstacle !== null && !(isAbove && position.canSell)) {
    return { code: obstacle, reason: obstacleReason(obstacle, off, position.foreignAuthority) }
  }
  if (magnitude < position.unitUsd) {
    const unit = dollars(position.unitUsd)
    return { code: SkipCode.belowMinTrade, reason: `${off}, less than its smallest unit, which is worth ${unit}.` }
  }
  return {
    code: SkipCode.noCounterpart,
    reason: `${off}, and no asset on this chain that may be traded can take the other side: see the chain's other skips.`
  }
}

const explainBand = (deviationUsd: bigint, bandUsd: bigint, least: string): Pick<Skip, "code" | "reason"> => ({
  code: SkipCode.withinBand,
  reason: `The asset is ${dollars(deviationUsd)} ${deviationUsd > 0n ? "above" : "below"} its target: within its band of ${dollars(bandUsd)}, or beyond it by less than the minimum trade of ${least}.`
})

/**
 * The skips of a chain's assets: for one that the plan leaves `deviationUsd` above (or, negative, below) its target, if
 * that is more than rounding. `bandUsd`: how far its policy lets it be.
 */
export const skipsOn = (chainId: ChainId, tolerance: Tolerance) => {
  const least = dollars(tolerance.tradeUsd)
  return (position: PlanPosition, deviationUsd: bigint, bandUsd?: bigint): Skip | undefined => {
    if (deviationUsd <= dustUsd && deviationUsd >= -dustUsd) return undefined
    const isWithin = bandUsd !== undefined && position.obstacle === null && position.weight > 0n
    const { code, reason } =
      isWithin && deviationUsd <= bandUsd + tolerance.tradeUsd && -deviationUsd <= bandUsd + tolerance.tradeUsd
        ? explainBand(deviationUsd, bandUsd, least)
        : explain(position, deviationUsd, tolerance)
    return { chainId, assetId: position.assetId, code, valueUsd: deviationUsd, reason }
  }
}

const whyUnvalued = ({ isUnread, unbacked }: Unvalued): Pick<Skip, "code" | "reason"> => {
  if (isUnread)
    return {
      code: SkipCode.balanceUnknown,
      reason:
        "The token does not answer what the account holds: it is taken to be on target and not traded until it does."
    }
  if (unbacked !== undefined)
    return {
      code: SkipCode.noMarket,
      reason: `The asset is not in the allocation, and the venues pay at most ${dollars(unbacked.paidUsd)} for what is worth ${dollars(unbacked.valueUsd)} by its price: it counts for nothing and is kept until they pay more.`
    }
  return {
    code: SkipCode.missingPrice,
    reason: "The asset is held but has no price: it is taken to be on target and kept until a price source lists it."
  }
}

/**
 * The skip for an asset that is held without a price, without a market for what nobody asked for, or whose balance its
 * token did not answer.
 */
export const unvaluedSkip = (chainId: ChainId, unvalued: Unvalued): Skip => ({
  chainId,
  assetId: unvalued.assetId,
  valueUsd: null,
  ...whyUnvalued(unvalued)
})

/** The skip for a leg that sells what is still on its way from another chain, `usd` (wad) of it. */
export const inTransitSkip = ({ buy, chainId, sell }: Leg, usd: bigint): Skip => ({
  chainId,
  assetId: null,
  sell,
  buy,
  code: SkipCode.inTransit,
  valueUsd: usd,
  reason: `${dollars(usd)} of what is to be sold is on its way from another chain: the trade is made once it has arrived.`
})
