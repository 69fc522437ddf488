/** Port: what a portfolio's automation has done: its rebalances, and since when its schedule is what it is. */
import { Context, type DateTime, type Effect } from "effect"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { OperationState } from "#domain/operation/Operation.ts"

/** One rebalance, whatever started it. */
export interface PastRun {
  readonly operationId: OperationId
  readonly state: OperationState
  readonly submittedAt: DateTime.Utc
  /** Null while it has not begun. */
  readonly startedAt: DateTime.Utc | null
}

export interface AutomationRecord {
  /** Rebalances that completed, of all time. */
  readonly completed: number
  /** Time at which the schedule was last switched or claimed; null without a schedule. */
  readonly scheduleChangedAt: DateTime.Utc | null
  /** The latest rebalances, newest first. */
  readonly runs: ReadonlyArray<PastRun>
}

/**
 * What a portfolio's automation has done.
 *
 * **When to use**
 *
 * Use in `Automation` alone.
 */
export class RunHistory extends Context.Service<
  RunHistory,
  {
    /** Reads the record; there is nothing of another tenant's portfolio. */
    readonly read: (tenantId: TenantId, portfolioId: PortfolioId, limit: number) => Effect.Effect<AutomationRecord>
  }
>()("ballast/domain/rebalance/RunHistory") {}
