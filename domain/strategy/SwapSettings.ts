/** A deployment's limits of swaps. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/** Preferences with nothing left open. */
export interface SwapLimits {
  /** Basis points. */
  readonly slippageBps: number
  readonly priceImpactBps: number
  /** US dollars, wad. */
  readonly thresholdUsd: bigint
}

/**
 * Limits of swaps that hold for every portfolio, or where nobody set others.
 *
 * **When to use**
 *
 * Use to resolve the limits of a portfolio, with `swapLimits`. What a strategy and a tenant set is `SwapPreferences`.
 */
export class SwapSettings extends Context.Service<
  SwapSettings,
  {
    /** Where neither strategy nor tenant sets a value. */
    readonly defaults: SwapLimits
    /**
     * Upper limits, basis points, for swaps of a portfolio that mirrors another tenant's strategy, whatever is set
     * elsewhere.
     */
    readonly mirrorCap: Pick<SwapLimits, "slippageBps" | "priceImpactBps">
    /** No trade below this value (US dollars, wad) is made, whatever threshold is set. */
    readonly minTradeUsd: bigint
  }
>()("ballast/domain/strategy/SwapSettings") {}
