/** Port: where strategies and their immutable versions are kept. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { PageRequest } from "#domain/Cursor.ts"
import type { StrategyId, TenantId } from "#domain/Ids.ts"
import type { Allocation, Strategy } from "#domain/strategy/Strategy.ts"

/** What publishing a version writes; the store numbers it. */
export interface NewVersion {
  readonly strategyId: StrategyId
  readonly allocation: Allocation
  readonly changeLog: string | null
  readonly createdAt: DateTime.Utc
}

export class StrategyStore extends Context.Service<
  StrategyStore,
  {
    /** Writes the strategy and its version 1. */
    readonly insert: (strategy: Strategy) => Effect.Effect<void>
    readonly find: (strategyId: StrategyId) => Effect.Effect<Option.Option<Strategy>>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly list: (tenantId: TenantId, page: PageRequest) => Effect.Effect<ReadonlyArray<Strategy>>
    /** Appends the next version and makes it head; concurrent calls each get their own number. */
    readonly publish: (version: NewVersion) => Effect.Effect<number>
  }
>()("ballast/domain/strategy/StrategyStore") {}
