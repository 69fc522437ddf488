/** Asynchronous work that clients poll. Source: interface "Operation", shapes 2.21. */
import { Schema, type DateTime } from "effect"
import type { OperationId, PortfolioId, TenantId } from "#domain/Ids.ts"
import type { OperationOutcome, OperationResult } from "#domain/operation/OperationResult.ts"

export const OperationKind = Schema.Literals(["withdraw", "rebalance", "bridge", "swap", "revoke", "execute"])
export type OperationKind = typeof OperationKind.Type

export const OperationState = Schema.Literals([
  "accepted",
  "running",
  "retrying",
  "awaiting_user",
  "completed",
  "failed",
  "cancelled"
])
export type OperationState = typeof OperationState.Type

/** What started a run; `triggered`: a workflow that waited (`firedBy`). */
export const Trigger = Schema.Literals(["manual", "scheduled", "triggered"])
export type Trigger = typeof Trigger.Type

/** The workflow that started a run, and why it did. */
export const FiredBy = Schema.Struct({ workflowId: Schema.String, kind: Schema.String, summary: Schema.String })
export type FiredBy = typeof FiredBy.Type

export interface Operation {
  readonly operationId: OperationId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly kind: OperationKind
  readonly trigger: Trigger
  readonly state: OperationState
  readonly submittedAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
  /** Set when the state is terminal. */
  readonly finishedAt: DateTime.Utc | null
  /** Free text for people, set on `failed` and `cancelled`. */
  readonly error: string | null
  /** What it did in a word; null until it has ended, and when it could not say. */
  readonly outcome: OperationOutcome | null
  /** For people: why nothing or not all was done. */
  readonly reason: string | null
  /** Null or absent unless a workflow started it. */
  readonly firedBy?: FiredBy | null
}

/** An operation with all that it did; the result is null when its outcome is. */
export interface ReportedOperation extends Operation {
  readonly result: OperationResult | null
}

const next: Record<OperationState, ReadonlyArray<OperationState>> = {
  accepted: ["running", "cancelled", "failed"],
  running: ["retrying", "awaiting_user", "completed", "failed", "cancelled"],
  retrying: ["running", "completed", "failed", "cancelled"],
  awaiting_user: ["running", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: []
}

/** A terminal state never changes. */
export const isTerminal = (state: OperationState): boolean => next[state].length === 0

/** The terminal state of an operation that ended with this error, or because somebody cancelled it. */
export const stateOfEnd = (error: string | null, isCancelled = false): OperationState =>
  isCancelled ? "cancelled" : error === null ? "completed" : "failed"

/** The states from which `to` may be entered, in the order of the lifecycle. */
export const sourcesOf = (to: OperationState): ReadonlyArray<OperationState> =>
  OperationState.literals.filter((from) => next[from].includes(to))

/** The kind of event that a change of state leaves. */
export const stateEvent = "state"
