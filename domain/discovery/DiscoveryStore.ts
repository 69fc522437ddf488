/** Port: the public strategies that can be mirrored, in each order of discovery, and the operator's selection. */
import { Context, type DateTime, type Effect } from "effect"
import type { CuratedPosition, DiscoveryPosition, RankedPosition } from "#domain/discovery/DiscoveryCursor.ts"
import type { DiscoveryItem } from "#domain/discovery/DiscoveryItem.ts"
import type { Sort } from "#domain/discovery/Sort.ts"
import type { StrategyId } from "#domain/values/Ids.ts"

/** An item as it is stored. */
export interface DiscoveryEntry {
  /** The strategy with the metrics of the last pass of the analytics, however old that is. */
  readonly item: DiscoveryItem
  /** Where the item is in the order of the request. */
  readonly position: DiscoveryPosition
  /** End of that pass; null before the first. */
  readonly measuredAt: DateTime.Utc | null
}

/**
 * Where lists of public strategies are read.
 *
 * **When to use**
 *
 * Use in `Discovery` and `Curation` alone.
 */
export class DiscoveryStore extends Context.Service<
  DiscoveryStore,
  {
    /** Lists curated strategies in editorial order; one more than the limit when there is a next page. */
    readonly curated: (after: CuratedPosition | null, limit: number) => Effect.Effect<ReadonlyArray<DiscoveryEntry>>
    /** The most first, unknown last; one more than the limit when there is a next page. */
    readonly ranked: (
      sort: Sort,
      after: RankedPosition | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DiscoveryEntry>>
    /** The operator's selection in its order, strategies that are not shown at the moment included. */
    readonly selection: Effect.Effect<ReadonlyArray<StrategyId>>
    /** Replaces the selection, or changes nothing and answers which of the strategies are not public and mirrorable. */
    readonly select: (strategyIds: ReadonlyArray<StrategyId>) => Effect.Effect<ReadonlyArray<StrategyId>>
  }
>()("ballast/domain/discovery/DiscoveryStore") {}
