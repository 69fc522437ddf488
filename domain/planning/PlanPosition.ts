/**
 * One asset of a chain as its plan sees it: facts only, which no step of the planner changes.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import type { Holding } from "#domain/planning/Plan.ts"
import { SkipCode } from "#domain/values/Skip.ts"

export interface PlanPosition {
  readonly assetId: AssetId
  /** Basis points of the whole portfolio. */
  readonly weight: bigint
  /** US dollars (wad) for one whole token; zero when there is no price. */
  readonly priceUsd: bigint
  /** Raw units in one whole token. */
  readonly scale: bigint
  /** US dollars (wad) of one raw unit, cut towards zero. */
  readonly unitUsd: bigint
  readonly balanceRaw: bigint
  /** The part of the balance that is still on its way from another chain, and so cannot be sold. */
  readonly incomingRaw: bigint
  /** Value of the balance, US dollars (wad). */
  readonly valueUsd: bigint
  readonly canSell: boolean
  readonly canBuy: boolean
  /** Somebody else who may move it; left out where nobody may. */
  readonly foreignAuthority?: string
  /** Why it cannot be bought, or neither bought nor sold; `null` when nothing stands in the way. */
  readonly obstacle: SkipCode | null
}

const powersOfTen: ReadonlyArray<bigint> = Array.from({ length: 37 }, (_, exponent) => 10n ** BigInt(exponent))

const scaleOf = (decimals: number): bigint => powersOfTen[decimals] ?? 10n ** BigInt(decimals)

const obstacleOf = (holding: Holding, hasPrice: boolean): SkipCode | null => {
  if (!hasPrice) return SkipCode.missingPrice
  if (holding.foreignAuthority !== undefined) return SkipCode.foreignAuthority
  if (holding.isBlocked) return SkipCode.assetBlocked
  if (holding.priceIsStale) return SkipCode.stalePrice
  return holding.isAuthorized ? null : SkipCode.notAuthorized
}

/** Reads one holding; a price that is missing gives a position without value that cannot be traded. */
export const fromHolding = (holding: Holding, weight: number): PlanPosition => {
  const priceUsd = holding.priceUsd !== null && holding.priceUsd > 0n ? holding.priceUsd : 0n
  const scale = scaleOf(holding.decimals)
  const incomingRaw = holding.incomingRaw ?? 0n
  const balanceRaw = holding.balanceRaw + incomingRaw
  const valueUsd = (balanceRaw * priceUsd) / scale
  const obstacle = obstacleOf(holding, priceUsd > 0n)
  return {
    assetId: holding.assetId,
    weight: BigInt(weight),
    priceUsd,
    scale,
    unitUsd: priceUsd / scale,
    balanceRaw,
    incomingRaw,
    valueUsd,
    canSell: obstacle === null || obstacle === SkipCode.notAuthorized,
    canBuy: obstacle === null && weight > 0,
    ...(holding.foreignAuthority === undefined ? {} : { foreignAuthority: holding.foreignAuthority }),
    obstacle
  }
}

/** Copies a position with another balance. */
export const withBalance = (position: PlanPosition, balanceRaw: bigint): PlanPosition => ({
  ...position,
  balanceRaw,
  valueUsd: (balanceRaw * position.priceUsd) / position.scale
})

/** Copies a position with another weight. */
export const withWeight = (position: PlanPosition, weight: bigint): PlanPosition => ({
  ...position,
  weight,
  canBuy: position.obstacle === null && weight > 0n
})

/** Raw units of the asset worth at most `usd` (wad); its price is above zero. */
export const rawWithin = ({ priceUsd, scale }: PlanPosition, usd: bigint): bigint => (usd * scale) / priceUsd

/** Value of raw units of the asset, US dollars (wad), cut towards zero. */
export const valueOf = ({ priceUsd, scale }: PlanPosition, raw: bigint): bigint => (raw * priceUsd) / scale

/** A target asset of which nothing is known on its chain: nothing held, no price. */
export const unknownAsset = (assetId: AssetId, weight: number): PlanPosition =>
  fromHolding(
    {
      assetId,
      decimals: 0,
      balanceRaw: 0n,
      priceUsd: null,
      priceIsStale: false,
      isBlocked: false,
      isAuthorized: false
    },
    weight
  )
