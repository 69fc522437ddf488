/** Port: which version of a strategy was head on which day. */
import { Context, type Effect } from "effect"
import type * as Day from "#domain/values/Day.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { CurveVersion } from "#domain/performance/strategyCurve.ts"

/**
 * Which version of a strategy was head on which day.
 *
 * **When to use**
 *
 * Use to compute curves of strategies. Lists of versions are `StrategyVersions`.
 */
export class CurveStore extends Context.Service<
  CurveStore,
  {
    /**
     * The version that was head when `from` began, or the first one ever, counted from that day; and the ones that were
     * head when a later day began, one a day at most, in the order of their days.
     */
    readonly versions: (strategyId: StrategyId, from: Day.Day) => Effect.Effect<ReadonlyArray<CurveVersion>>
  }
>()("ballast/domain/performance/CurveStore") {}
