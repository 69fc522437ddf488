/** Swap preferences as v2 shows them. Source: shapes 2.3 and 2.9. */
import * as Decimal from "#domain/values/Decimal.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** A threshold as it was sent: two decimals, and up to six where it has them. */
const formatThreshold = (value: bigint): string => Decimal.formatUsd(value).replace(/0{1,4}$/, "")

export const swapView = ({ priceImpactBps, slippageBps, thresholdUsd }: SwapPreferences) => ({
  slippageBps,
  priceImpactBps,
  thresholdUsd: thresholdUsd === null ? null : formatThreshold(thresholdUsd)
})

/** Writes swap preferences with the policy, where one is set. */
export const preferencesView = (swap: SwapPreferences, rebalancePolicy: RebalancePolicy | undefined) => ({
  swap: swapView(swap),
  ...(rebalancePolicy === undefined ? {} : { rebalancePolicy })
})
