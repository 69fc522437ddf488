/**
 * Port: monitors, the prices at which they are checked, and the ticks that were done.
 *
 * Every change names the revision that it saw and does nothing when there is a younger one, so of two that tick the
 * same monitor one does.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId, UserId, WorkflowId } from "#domain/values/Ids.ts"
import type { LinkedRun, Monitor, MonitorState, Workflow } from "#domain/monitor/Monitor.ts"
import type { PriceWatch } from "#domain/monitor/priceWatch.ts"
import type { FiredBy, OperationState } from "#domain/operation/Operation.ts"
import type { OperationOutcome } from "#domain/operation/OperationResult.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"

/** The run that a step starts. */
export interface RunToStart {
  readonly operationId: OperationId
  readonly firedBy: FiredBy
  /** The state once the portfolio has a run: this one, or another one that is not finished. */
  readonly started: (operationId: OperationId, isOwn: boolean) => MonitorState
}

/** What a tick makes of a monitor. */
export interface Step {
  readonly monitor: Monitor
  readonly at: DateTime.Utc
  /** The next state; where a run is to be started, that of a portfolio that may not be traded now. */
  readonly next: MonitorState
  readonly start?: RunToStart
  /** Replace those that the monitor has. Left out: as they are. */
  readonly watches?: ReadonlyArray<PriceWatch>
  /** The key under which the tick is stored, and what it was sent with. */
  readonly key?: { readonly requestId: string; readonly fingerprint: string }
}

/** What became of a step; absent from the answer when the monitor had changed. */
export interface Advanced {
  readonly workflowId: WorkflowId
  /** An accepted operation, to be launched. */
  readonly launch: OperationId | null
}

/** How many workflows one portfolio may have. */
export const maxWorkflows = 20

/** A tick that was done. */
export interface DoneTick {
  readonly workflowId: WorkflowId
  readonly fingerprint: string
}

export interface EndedOperation {
  readonly operationId: OperationId
  readonly state: OperationState
  readonly outcome: OperationOutcome | null
}

/**
 * Where waiting workflows are kept.
 *
 * **When to use**
 *
 * Use in services of this context alone. Routes use `Monitors` and `Workflows`.
 */
export class MonitorStore extends Context.Service<
  MonitorStore,
  {
    /** Refused where the portfolio does not exist, or has as many workflows as one may have. */
    readonly insert: (
      workflow: Omit<Workflow, "ownerAddress" | "tenantId">,
      state: MonitorState,
      at: DateTime.Utc
    ) => Effect.Effect<"inserted" | "no_portfolio" | "too_many">
    readonly find: (workflowId: WorkflowId) => Effect.Effect<Option.Option<Monitor>>
    /** The one that waits for the execution. */
    readonly awaiting: (execution: LinkedRun) => Effect.Effect<Option.Option<Monitor>>
    /** Active ones whose next check is due, the longest overdue first. */
    readonly due: (asOf: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Monitor>>
    /** Claims due monitors for the caller alone until `until` or until they change. */
    readonly claim: (now: DateTime.Utc, until: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Monitor>>
    /** One transaction: states, accepted operations, watches and keys together. A monitor may occur once. */
    readonly advance: (steps: ReadonlyArray<Step>) => Effect.Effect<ReadonlyArray<Advanced>>
    readonly tick: (requestId: string) => Effect.Effect<Option.Option<DoneTick>>
    /** Approves a workflow; false when it does not wait for that. */
    readonly approve: (workflowId: WorkflowId, at: DateTime.Utc) => Effect.Effect<boolean>
    /** Removes a workflow that no strategy has any more; its run, if it has one, goes on. */
    readonly remove: (workflowId: WorkflowId) => Effect.Effect<boolean>
    /** Makes those due whose watches these prices reach; a price that reaches none costs a read of two indexes. */
    readonly touch: (prices: ReadonlyMap<AssetId, bigint>, at: DateTime.Utc) => Effect.Effect<number>
    /** Every asset with a watch. */
    readonly watched: Effect.Effect<ReadonlyArray<AssetId>>
    /** Brings one batch of portfolios up to the triggers of a strategy that changed; true when there may be more. */
    readonly follow: (now: DateTime.Utc) => Effect.Effect<boolean>
    /** Deletes a batch of ticks that were done before. */
    readonly deleteTicks: (before: DateTime.Utc) => Effect.Effect<number>
    /** State for metrics: how many have failed, and since when the longest overdue one is due. */
    readonly state: (
      now: DateTime.Utc
    ) => Effect.Effect<{ readonly failed: number; readonly oldestDueAt: DateTime.Utc | null }>
    /**
     * What plans of these portfolios are made for. Leaves out portfolios that are paused, revoked or not checked yet,
     * and those with an unfinished run or value about to leave: what they hold is about to change.
     */
    readonly contexts: (portfolioIds: ReadonlyArray<PortfolioId>) => Effect.Effect<ReadonlyArray<PlanContext>>
    /** Pending signatures of the owner and workflows that wait for approval; a portfolio without any is absent. */
    readonly pendingApprovals: (
      portfolioIds: ReadonlyArray<PortfolioId>
    ) => Effect.Effect<ReadonlyMap<PortfolioId, number>>
    /** Those of them that have ended. */
    readonly ended: (operationIds: ReadonlyArray<OperationId>) => Effect.Effect<ReadonlyArray<EndedOperation>>
    /** The user who signs in with the wallet of the portfolio's owner. */
    readonly userOf: (portfolioId: PortfolioId) => Effect.Effect<Option.Option<UserId>>
  }
>()("ballast/domain/monitor/MonitorStore") {}
