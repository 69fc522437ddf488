/** Which swap preferences apply: the first that is set, from the most specific to the service's default. */
import type { Settings } from "#domain/Settings.ts"
import type { SwapPreferences } from "#domain/strategy/Strategy.ts"

/** Preferences with nothing left open. */
export type SwapLimits = Settings["Service"]["defaultSwap"]

/** Resolves field by field: `overrides` in order (strategy, then tenant), then `defaults`. */
export const resolveSwap = (overrides: ReadonlyArray<SwapPreferences>, defaults: SwapLimits): SwapLimits => {
  const first = <Field extends keyof SwapPreferences>(field: Field) =>
    overrides.find((preferences) => preferences[field] !== null)?.[field] ?? defaults[field]
  return {
    slippageBps: first("slippageBps"),
    priceImpactBps: first("priceImpactBps"),
    thresholdUsd: first("thresholdUsd")
  } as SwapLimits
}
