/** Which holdings a liquidation of everything takes: those worth a trade, whole, the most valuable first. Pure. */
import type { Asset } from "#domain/asset/Asset.ts"
import * as Amount from "#domain/values/Amount.ts"
import type { AssetId, HeldAssetId } from "#domain/values/Caip.ts"
import type { Price } from "#domain/market/Prices.ts"
import { maxWithdrawalAssets } from "#domain/account/WithdrawalMessage.ts"
import type { WithdrawalTerms } from "#domain/withdrawal/resolveSource.ts"

export interface Holdings {
  readonly catalogue: ReadonlyArray<Asset>
  readonly balances: ReadonlyMap<HeldAssetId, bigint | null>
  readonly prices: ReadonlyMap<AssetId, Price>
  /** US dollars (wad); a holding must be worth more. */
  readonly thresholdUsd: bigint
}

/**
 * What has no price is left, since no minimum could be set under its sale; so is what is blocked. The settlement asset
 * counts like any other, and is delivered as it is.
 */
export const holdingsToLiquidate = ({
  balances,
  catalogue,
  prices,
  thresholdUsd
}: Holdings): WithdrawalTerms["assets"] =>
  catalogue
    .flatMap(({ assetId, decimals, isBlocked }) => {
      const raw = balances.get(assetId) ?? 0n
      const price = prices.get(assetId)
      if (isBlocked || raw === 0n || price === undefined) return []
      const valueUsd = Amount.valueUsd(raw, decimals, price.usd)
      return valueUsd > thresholdUsd ? [{ assetId, amountRaw: raw.toString(), valueUsd }] : []
    })
    .sort((a, b) => (a.valueUsd === b.valueUsd ? (a.assetId < b.assetId ? -1 : 1) : a.valueUsd > b.valueUsd ? -1 : 1))
    .slice(0, maxWithdrawalAssets)
    .map(({ assetId, amountRaw }) => ({ assetId, amountRaw }))
