/** Asynchronous work that clients poll. Source: interface "Operation", shapes 2.21. */
import { Schema } from "effect"
import { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { OperationOutcome, type OperationResult } from "#domain/operation/OperationResult.ts"

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
export const OperationOrigin = Schema.Literals(["manual", "scheduled", "triggered"])
export type OperationOrigin = typeof OperationOrigin.Type

/** The workflow that started a run, and why it did. */
export const FiredBy = Schema.Struct({ workflowId: Schema.String, kind: Schema.String, summary: Schema.String })
export type FiredBy = typeof FiredBy.Type

export const Operation = Schema.Struct({
  operationId: OperationId,
  tenantId: TenantId,
  portfolioId: PortfolioId,
  kind: OperationKind,
  trigger: OperationOrigin,
  state: OperationState,
  submittedAt: Schema.DateTimeUtc,
  updatedAt: Schema.DateTimeUtc,
  /** Set when the state is terminal. */
  finishedAt: Schema.NullOr(Schema.DateTimeUtc),
  /** Free text for people, set on `failed` and `cancelled`. */
  error: Schema.NullOr(Schema.String),
  /** What it did; null until it has ended, and when that is not known. */
  outcome: Schema.NullOr(OperationOutcome),
  /** Reason for people: why nothing or not all was done. */
  reason: Schema.NullOr(Schema.String),
  /** Null or absent unless a workflow started it. */
  firedBy: Schema.optionalKey(Schema.NullOr(FiredBy))
})
export type Operation = typeof Operation.Type

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

/** The terminal state of an operation that ended with this error, or was cancelled. */
export const stateOfEnd = (error: string | null, isCancelled = false): OperationState =>
  isCancelled ? "cancelled" : error === null ? "completed" : "failed"

/** The states from which `to` may be entered, in the order of the lifecycle. */
export const sourcesOf = (to: OperationState): ReadonlyArray<OperationState> =>
  OperationState.literals.filter((from) => next[from].includes(to))

/** The kind of event that a change of state leaves. */
export const stateEvent = "state"
