/** A swap on one chain with what it yields at the feed's prices, or why that is not known. Pure. */
import { type DateTime, Result } from "effect"
import * as Amount from "#domain/values/Amount.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import type { AssetId } from "#domain/values/Caip.ts"
import { mayTradeOn, type Price } from "#domain/market/Prices.ts"
import { fromFeeBps, whole } from "#domain/planning/SwapCost.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import { dollars } from "#domain/values/Skip.ts"

/** How much of a swap may buy nothing because it is less than a unit, basis points. */
const maxRestBps = 100n

export interface FeedLegInputs {
  readonly assets: ReadonlyMap<AssetId, Asset>
  readonly prices: ReadonlyMap<AssetId, Price>
  readonly now: DateTime.Utc
  readonly priceMaxAgeMs: number
  /** The fee of the swap, basis points. */
  readonly feeBps: number
}

export interface FeedLeg {
  readonly leg: PlannedLeg
  readonly sell: Asset
  readonly buy: Asset
}

/** A failure is the end of a sentence that says why there is none. */
export const feedLeg = (
  { amountRaw, buy, sell }: { readonly sell: AssetId; readonly buy: AssetId; readonly amountRaw: bigint },
  { assets, feeBps, now, priceMaxAgeMs, prices }: FeedLegInputs
): Result.Result<FeedLeg, string> => {
  const [from, into] = [assets.get(sell), assets.get(buy)]
  if (from === undefined || into === undefined || from.isBlocked || into.isBlocked) {
    return Result.fail(`${sell} and ${buy}: one is blocked or not in the asset catalogue`)
  }
  const staleBefore = now.epochMilliseconds - priceMaxAgeMs
  const [sold, bought] = [prices.get(sell), prices.get(buy)]
  const isFresh = [sold, bought].every((price) => price !== undefined && mayTradeOn(price, staleBefore))
  if (!isFresh || sold === undefined || bought === undefined || bought.usd <= 0n) {
    return Result.fail(`${sell} and ${buy}: there is no fresh price to swap by`)
  }
  const valueUsd = Amount.valueUsd(amountRaw, from.decimals, sold.usd)
  const { kept } = fromFeeBps(feeBps)
  const keptUsd = (valueUsd * kept) / whole
  const expectedBuyRaw = Amount.fromUsd(keptUsd, into.decimals, bought.usd)
  const restUsd = keptUsd - Amount.valueUsd(expectedBuyRaw, into.decimals, bought.usd)
  if (restUsd * whole > keptUsd * maxRestBps) {
    const unit = dollars(Amount.valueUsd(1n, into.decimals, bought.usd))
    return Result.fail(
      `${sell} and ${buy}: the smallest unit of what is bought is worth ${unit}, and ${dollars(restUsd)} of what is sold would buy none; sell what whole units cost`
    )
  }
  return Result.succeed({
    leg: { sell, buy, sellAmountRaw: amountRaw, valueUsd, expectedBuyRaw },
    sell: from,
    buy: into
  })
}
