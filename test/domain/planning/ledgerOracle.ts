/**
 * An account of a portfolio in exact fractions, independent of how the planner computes. It answers what each
 * chain holds, what of it is above target and may be sold, and what its buyable targets lack.
 */
import { type AssetId, type ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { Holding, PlanInput } from "#domain/planning/Plan.ts"

/** US dollars (wad) times this: enough digits for every price and decimal that the tests draw. */
const precision = 10n ** 40n

/** A value in US dollars, exact as a multiple of 10^-58. */
export type Exact = bigint

export const exactly = (usdWad: bigint): Exact => usdWad * precision
export const toWad = (exact: Exact): bigint => exact / precision

const isPriced = ({ priceUsd }: Holding) => priceUsd !== null && priceUsd > 0n

export const valueOf = ({ balanceRaw, decimals, incomingRaw = 0n, priceUsd }: Holding): Exact =>
  ((balanceRaw + incomingRaw) * (priceUsd ?? 0n) * precision) / 10n ** BigInt(decimals)

export const maySell = (holding: Holding): boolean => isPriced(holding) && !holding.isBlocked && !holding.priceIsStale
export const mayBuy = (holding: Holding): boolean => maySell(holding) && holding.isAuthorized

export interface ChainLedger {
  readonly chainId: ChainId
  readonly heldUsd: Exact
  readonly shareUsd: Exact
  /** Value above target that may be sold. */
  readonly excessUsd: Exact
  /** Value below target that may be bought; the bridge asset needs no purchase, it arrives. */
  readonly lackUsd: Exact
  /** Whether its bridge asset may be sold, so that value can come and go. */
  readonly isConnected: boolean
}

export const ledgerOf = ({ allocation, chains, transfers }: PlanInput): ReadonlyArray<ChainLedger> => {
  const weights = new Map<AssetId, bigint>(allocation.map(({ assetId, weight }) => [assetId, BigInt(weight)]))
  const totalUsd = chains.flatMap(({ holdings }) => holdings).reduce((sum, holding) => sum + valueOf(holding), 0n)
  const targetOf = (assetId: AssetId): Exact => (totalUsd * (weights.get(assetId) ?? 0n)) / 10_000n
  return chains.map(({ chainId, holdings }) => {
    const sum = (of: (holding: Holding) => Exact) => holdings.reduce((total, holding) => total + of(holding), 0n)
    const above = (holding: Holding) => valueOf(holding) - targetOf(holding.assetId)
    const mayFill = (holding: Holding) => mayBuy(holding) || (holding === bridgeAsset && maySell(holding))
    const bridgeAsset = holdings.find(({ assetId }) => assetId === transfers?.assets.get(chainId))
    return {
      chainId,
      heldUsd: sum(valueOf),
      shareUsd: allocation.reduce(
        (total, { assetId }) => total + (chainIdOf(assetId) === chainId ? targetOf(assetId) : 0n),
        0n
      ),
      excessUsd: sum((holding) => (maySell(holding) && above(holding) > 0n ? above(holding) : 0n)),
      lackUsd: sum((holding) => (mayFill(holding) && above(holding) < 0n ? -above(holding) : 0n)),
      isConnected: bridgeAsset !== undefined && maySell(bridgeAsset)
    }
  })
}
