/**
 * A workflow that waits, and what it waits for. Source: interface "Workflow monitor states", shapes D.
 *
 * A monitor is one row: while it waits nothing of it is in memory, and all that it will do follows from the row.
 */

import { DateTime, Schema } from "effect"
import { OperationId, type PortfolioId, type TenantId, type WorkflowId } from "#domain/values/Ids.ts"
import { OperationOutcome } from "#domain/operation/OperationResult.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { type Trigger, TriggerEvent } from "#domain/monitor/Trigger.ts"

/** `scheduled`: it runs by the clock; `triggered`: when its trigger fires. */
export const WorkflowKind = Schema.Literals(["scheduled", "triggered"])
export type WorkflowKind = typeof WorkflowKind.Type

/** Nothing wakes a workflow that waits for approval. */
export const WorkflowStatus = Schema.Literals(["active", "pending_approval"])
export type WorkflowStatus = typeof WorkflowStatus.Type

/** `started` lasts as long as the transaction that starts the execution: readers see `waiting` on it. */
export const MonitorStatus = Schema.Literals(["waiting", "ready", "started", "completed", "failed"])
export type MonitorStatus = typeof MonitorStatus.Type

export const Wait = Schema.Literals(["time", "execution", "trigger"])
export type Wait = typeof Wait.Type

/** What made a monitor ready. */
export const MonitorEvent = Schema.Union([
  Schema.TaggedStruct("due", {}),
  Schema.TaggedStruct("trigger_matched", { event: TriggerEvent }),
  Schema.TaggedStruct("execution_completed", {
    operationId: OperationId,
    state: OperationState,
    outcome: Schema.NullOr(OperationOutcome)
  }),
  Schema.TaggedStruct("recovered", {})
])
export type MonitorEvent = typeof MonitorEvent.Type

/** The run that a workflow waits for, and the tick that started it. */
export interface LinkedRun {
  readonly operationId: OperationId
  readonly requestId: string
}

/** All that changes of a monitor. */
export interface MonitorState {
  readonly status: MonitorStatus
  /** Null unless it waits. */
  readonly wait: Wait | null
  /** Time at which it is checked without a price; null once it has ended. No two ticks of a monitor have one time. */
  readonly nextCheckAt: DateTime.Utc | null
  /** Time of the last tick; later ticks are later. */
  readonly lastTickAt: DateTime.Utc | null
  /** Whether its trigger may fire (`edge.ts`). */
  readonly isArmed: boolean
  /** Why it is ready; null unless it is. */
  readonly event: MonitorEvent | null
  readonly execution: LinkedRun | null
  /** Runs that it started, the latest last, as many as are kept. */
  readonly linkedOperationIds: ReadonlyArray<OperationId>
  /** Executions that failed, one after the other. */
  readonly failures: number
  readonly readyAt: DateTime.Utc | null
  readonly startedAt: DateTime.Utc | null
  readonly retryAfter: DateTime.Utc | null
  readonly waitingUntil: DateTime.Utc | null
  readonly completedAt: DateTime.Utc | null
  readonly failedAt: DateTime.Utc | null
  readonly lastRunAt: DateTime.Utc | null
}

/** What a workflow is, which does not change while it waits. */
export interface Workflow {
  readonly workflowId: WorkflowId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  /** Address of the portfolio's owner, without a chain. */
  readonly ownerAddress: string
  readonly title: string
  readonly kind: WorkflowKind
  /** Null where it is scheduled. */
  readonly trigger: Trigger | null
  /** Milliseconds between two runs of a scheduled workflow; null where it runs once. */
  readonly everyMs: number | null
  /** Whether a triggered one waits again after its run. */
  readonly isRepeated: boolean
  readonly status: WorkflowStatus
}

export interface Monitor {
  readonly workflow: Workflow
  readonly state: MonitorState
  /** Rises with every change; a change names the one that it saw. */
  readonly revision: number
}

/** The stable identity of the caller that works on a workflow. */
export const workerIdOf = (workflowId: WorkflowId): string => `cloudflare:workflow-monitor:${workflowId}`

/** The key of one tick: the same until it has been done. */
export const tickRequestId = (workflowId: WorkflowId, at: DateTime.Utc): string =>
  `workflow-monitor-tick:${workflowId}:${DateTime.formatIso(at)}`
