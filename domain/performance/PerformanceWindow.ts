/** How a curve changed over the usual lookbacks. Source: interface "Discovery strategy item", shapes 2.11. */
import { Schema } from "effect"

/** Shortest first, as they are shown. Months are calendar months. */
export const WindowName = Schema.Literals(["1d", "1w", "1m", "3m", "6m", "12m"])
export type WindowName = typeof WindowName.Type

export interface PerformanceWindow {
  readonly window: WindowName
  /** Percent as wad: 1.5 percent is `1_500_000_000_000_000_000n`. */
  readonly percentChange: bigint
  /** The day that the change is counted from, `YYYY-MM-DD`. */
  readonly since: string
}
