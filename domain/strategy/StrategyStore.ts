/**
 * Port: where strategies, their configuration and their immutable versions are kept.
 *
 * Every change names the tenant and changes only a strategy of that tenant: the answer is none when there is no such
 * strategy. A patch writes the fields that it has and no others, so concurrent patches of different fields both last.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { LabelsFilter, LabelsPatch, LabelsRefusal } from "#domain/values/Labels.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import type { Preferences, PreferencesPatch } from "#domain/mandate/SwapPreferences.ts"
import type { StrategyVersion } from "#domain/strategy/StrategyVersion.ts"
import type { StrategyTriggers } from "#domain/mandate/StrategyTriggers.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"

/** A strategy as its creator makes it: it may not be mirrored until the operator allows it, and advertises nothing. */
export type NewStrategy = Omit<Strategy, "canMirror" | "maxApy" | "archivedAt">

/** What publishing a version writes; the store numbers it. */
export interface NewVersion {
  readonly strategyId: StrategyId
  readonly allocation: Allocation
  readonly changeLog: string | null
  readonly createdAt: DateTime.Utc
}

/** A strategy, changed by its tenant alone. */
export interface OwnStrategy {
  readonly tenantId: TenantId
  readonly strategyId: StrategyId
}

/** Fields to set; what is left out stays as it is. */
export interface StrategyPatch extends LabelsPatch {
  readonly name?: string
  readonly description?: string | null
  readonly isPublic?: boolean
  /** Null clears them. Monitors of the strategy's portfolios follow in batches (`MonitorStore.follow`). */
  readonly triggers?: StrategyTriggers | null
}

/** Filter of a list: strategies that are not archived, those that are, or both. */
export const Archived = Schema.Literals(["exclude", "only", "include"])
export type Archived = typeof Archived.Type

export interface StrategyFilter extends LabelsFilter {
  /** `exclude` when left out. */
  readonly archived?: Archived | undefined
}

/** What became of a strategy that was to go; `Archived` too when it is archived already. */
export type Removal = "Deleted" | "Archived"

/** A page of versions: at most `limit`, below version `before`. */
export interface VersionRequest {
  readonly limit: number
  readonly before: number | null
}

/**
 * Where strategies and their versions are kept.
 *
 * **When to use**
 *
 * Use in services of this context, and where another context needs a strategy of any tenant. Tenants read theirs
 * by `Strategies`.
 */
export class StrategyStore extends Context.Service<
  StrategyStore,
  {
    /** Writes the strategy and its version 1. Refused by its labels, it writes nothing. */
    readonly insert: (strategy: NewStrategy) => Effect.Effect<void, LabelsRefusal>
    readonly find: (strategyId: StrategyId) => Effect.Effect<Option.Option<Strategy>>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly list: (
      tenantId: TenantId,
      filter: StrategyFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<Strategy>>
    readonly update: (
      strategy: OwnStrategy,
      patch: StrategyPatch
    ) => Effect.Effect<Option.Option<Strategy>, LabelsRefusal>
    /** Deletes a strategy that no portfolio, enrollment or mirroring tenant names, and archives any other. */
    readonly remove: (strategy: OwnStrategy, at: DateTime.Utc) => Effect.Effect<Option.Option<Removal>>
    /** Takes the archiving back; not archived: no change. */
    readonly restore: (strategy: OwnStrategy, at: DateTime.Utc) => Effect.Effect<Option.Option<Strategy>>
    /**
     * Sets the cadence and moves the due times of active portfolios that follow the strategy (`movedDueAt.ts`): those
     * of the first batch immediately, the others by `DueStore.moveToCadence`.
     */
    readonly setFrequency: (
      strategy: OwnStrategy,
      frequency: Frequency,
      now: DateTime.Utc
    ) => Effect.Effect<Option.Option<Frequency>>
    readonly patchSwap: (strategy: OwnStrategy, patch: PreferencesPatch) => Effect.Effect<Option.Option<Preferences>>
    /** The override of the tenant's swap fee; only a strategy of the tenant has one to show. */
    readonly fee: (strategy: OwnStrategy) => Effect.Effect<Option.Option<SwapFee>>
    readonly patchFee: (strategy: OwnStrategy, patch: Partial<SwapFee>) => Effect.Effect<Option.Option<SwapFee>>
    /** Appends the next version and makes it head; concurrent calls each get their own number. */
    readonly publish: (version: NewVersion) => Effect.Effect<number>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly versions: (
      strategyId: StrategyId,
      request: VersionRequest
    ) => Effect.Effect<ReadonlyArray<StrategyVersion>>
  }
>()("ballast/domain/strategy/StrategyStore") {}
