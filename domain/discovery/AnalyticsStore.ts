/** Port: what discovery ranks by, computed over all tenants into tables of its own. */
import { Context, type DateTime, type Effect } from "effect"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"

/** What a pass measures by. */
export interface Measuring {
  /** A valuation before this moment is too old for the present. */
  readonly freshSince: DateTime.Utc
  /** Portfolios that were created earlier must have been valued. */
  readonly valuedIfBefore: DateTime.Utc
  /** The first UTC date whose cash flows count as recent. */
  readonly flowsSince: DateTime.Utc
}

/** The performance of one strategy at `at`; null when it could not be computed, and then what was known stays. */
export interface MeasuredWindows {
  readonly strategyId: StrategyId
  readonly windows: ReadonlyArray<PerformanceWindow> | null
}

/**
 * Where the figures of discovery are kept.
 *
 * **When to use**
 *
 * Use in `StrategyAnalytics` alone. Lists are read by `DiscoveryStore`.
 */
export class AnalyticsStore extends Context.Service<
  AnalyticsStore,
  {
    /** True for one of all callers, and only if the last pass began before `notSince`. */
    readonly claim: (now: DateTime.Utc, notSince: DateTime.Utc) => Effect.Effect<boolean>
    /** Values, flows, owners and portfolios of every listed strategy; answers of how many the value is unknown. */
    readonly measure: (measuring: Measuring) => Effect.Effect<number>
    /** Listed strategies whose performance was computed before `before`, the longest ago first. */
    readonly outdated: (before: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<StrategyId>>
    readonly saveWindows: (at: DateTime.Utc, measured: ReadonlyArray<MeasuredWindows>) => Effect.Effect<void>
    /** Records that the metrics are those of `at`. */
    readonly finish: (at: DateTime.Utc) => Effect.Effect<void>
  }
>()("ballast/domain/discovery/AnalyticsStore") {}
