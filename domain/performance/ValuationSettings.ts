/** Times at which portfolios are valued. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * Times at which portfolios are valued by the clock.
 *
 * **When to use**
 *
 * Use in `Valuer` alone. A run values its portfolio when it trades, whatever is set here.
 */
export class ValuationSettings extends Context.Service<
  ValuationSettings,
  {
    /** How often every portfolio is valued, in milliseconds. */
    readonly intervalMs: number
    /** How many portfolios are valued at once. */
    readonly batch: number
  }
>()("ballast/domain/performance/ValuationSettings") {}
