/** The columns of swap preferences, which strategies and tenants have alike. */
import * as Decimal from "#domain/values/Decimal.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** What a query selects to read them, as rows of `SwapPreferencesColumns`. */
export const selectSwap = `
  slippage_bps AS "slippageBps", price_impact_bps AS "priceImpactBps", threshold_usd AS "thresholdUsd"`

/** The columns to write for the fields that a patch has. */
export const swapColumnsOf = ({ priceImpactBps, slippageBps, thresholdUsd }: Partial<SwapPreferences>) => ({
  ...(slippageBps === undefined ? {} : { slippage_bps: slippageBps }),
  ...(priceImpactBps === undefined ? {} : { price_impact_bps: priceImpactBps }),
  ...(thresholdUsd === undefined
    ? {}
    : { threshold_usd: thresholdUsd === null ? null : Decimal.format(thresholdUsd, 18) })
})

/** Whether a patch has anything to write. */
export const isEmpty = (columns: Readonly<Record<string, unknown>>): boolean => Object.keys(columns).length === 0
