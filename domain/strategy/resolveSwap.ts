/**
 * Which swap limits apply to a portfolio. On the tenant's own strategy: field by field the first that is set, from the
 * most specific to the service's default. On a strategy of another tenant: the tightest of all.
 */
import type { SwapLimits, SwapSettings } from "#domain/strategy/SwapSettings.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** The settings that count for a portfolio. */
export interface SwapSources {
  readonly strategy: SwapPreferences
  /** Preferences of the tenant whose portfolio it is. */
  readonly tenant: SwapPreferences
  /** What that tenant accepted of a strategy that another one created; null when the strategy is its own. */
  readonly accepted: SwapPreferences | null
}

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

const least = (limits: ReadonlyArray<number | null>): number =>
  Math.min(...limits.filter((limit): limit is number => limit !== null))

/**
 * Slippage and impact: the lowest of the creator's, what was accepted of it, the tenant's own and the service's cap.
 * The threshold: the greater of what was accepted and the tenant's own, because every trade costs the user.
 */
const tightest = (
  { accepted, strategy, tenant }: SwapSources & { readonly accepted: SwapPreferences },
  { defaults, mirrorCap }: SwapSettings["Service"]
): SwapLimits => {
  const own = resolveSwap([tenant], defaults)
  const thresholdUsd = accepted.thresholdUsd ?? 0n
  return {
    slippageBps: least([strategy.slippageBps, accepted.slippageBps, own.slippageBps, mirrorCap.slippageBps]),
    priceImpactBps: least([
      strategy.priceImpactBps,
      accepted.priceImpactBps,
      own.priceImpactBps,
      mirrorCap.priceImpactBps
    ]),
    thresholdUsd: thresholdUsd > own.thresholdUsd ? thresholdUsd : own.thresholdUsd
  }
}

/** The limits of a portfolio; its threshold is never below the minimum trade that the service makes. */
export const swapLimits = (sources: SwapSources, settings: SwapSettings["Service"]): SwapLimits => {
  const { accepted, strategy, tenant } = sources
  const limits =
    accepted === null
      ? resolveSwap([strategy, tenant], settings.defaults)
      : tightest({ ...sources, accepted }, settings)
  const { minTradeUsd } = settings
  return limits.thresholdUsd < minTradeUsd ? { ...limits, thresholdUsd: minTradeUsd } : limits
}
