/** Port: operations and their events. */
import { Context, type DateTime, type Effect, type Option, type Schema } from "effect"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { Operation, OperationKind, OperationState, ReportedOperation } from "#domain/operation/Operation.ts"
import type { Launch } from "#domain/operation/OperationLauncher.ts"

/** What became of a manual trigger. */
export type Submission =
  | { readonly _tag: "Submitted"; readonly operation: Operation }
  /**
   * A run of the portfolio, manual or scheduled, is not finished, at work or waiting for its owner; it is the one
   * answered.
   */
  | { readonly _tag: "Running"; readonly operation: Operation }
  | { readonly _tag: "CoolingDown"; readonly until: DateTime.Utc }
  /** The owner revoked the agent's permission and has not signed anew. */
  | { readonly _tag: "Revoked" }
  | { readonly _tag: "NoPortfolio" }

export interface ManualRequest {
  readonly operationId: OperationId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly now: DateTime.Utc
  /** Milliseconds since the last manual run's submission in which another is refused. */
  readonly cooldownMs: number
}

/** What became of a request to cancel. */
export type CancelAnswer =
  /** Its run sends nothing any more that was not signed before, now or by an earlier request; or it has ended so. */
  | { readonly _tag: "Requested"; readonly operation: ReportedOperation }
  /** Nothing is left that could be left out. */
  | { readonly _tag: "TooLate"; readonly reason: string }
  | { readonly _tag: "Unknown" }

export interface CancelRequest {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly operationId: OperationId
  readonly now: DateTime.Utc
}

export interface OperationFilter {
  readonly portfolioId?: PortfolioId | undefined
  readonly kind?: OperationKind | undefined
  readonly state?: OperationState | undefined
  /** Submitted then or later. */
  readonly since?: DateTime.Utc | undefined
}

/** An operation is to enter a state. */
export interface StateChange {
  readonly operationId: OperationId
  readonly to: OperationState
  readonly at: DateTime.Utc
  /** Free text for people, of `failed` and `cancelled`; else null. */
  readonly error: string | null
}

/** What happened to an operation, before its history has it. */
export interface NewEvent {
  readonly operationId: OperationId
  readonly at: DateTime.Utc
  readonly kind: string
  readonly payload: unknown
}

/** One line of an operation's history. */
export interface OperationEvent extends NewEvent {
  /** Rises by one within the operation. */
  readonly sequence: number
  readonly payload: Schema.Json
}

/**
 * Where operations and their events are kept.
 *
 * **When to use**
 *
 * Use in workflows and in services that accept or read operations. Tenants read theirs by `Operations` and
 * `Executions`.
 */
export class OperationStore extends Context.Service<
  OperationStore,
  {
    readonly find: (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      operationId: OperationId
    ) => Effect.Effect<Option.Option<ReportedOperation>>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly list: (
      tenantId: TenantId,
      filter: OperationFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<Operation>>
    /**
     * Decides and writes in one transaction, so that of concurrent triggers one submits and the others see it running.
     */
    readonly submitManual: (request: ManualRequest) => Effect.Effect<Submission>
    /**
     * Decides and writes in one transaction: what is signed for the operation at its commit is all that ever will be.
     */
    readonly requestCancel: (request: CancelRequest) => Effect.Effect<CancelAnswer>
    /** Cancels the portfolio's runs that wait for its owner; answers them. */
    readonly cancelAwaiting: (
      tenantId: TenantId,
      portfolioId: PortfolioId,
      now: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<Launch>>
    /** Not for use inside a transaction. */
    readonly isCancelRequested: (operationId: OperationId) => Effect.Effect<boolean>
    /** Operations that were accepted before the given time and whose run has not begun. */
    readonly accepted: (before: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Launch>>
    /** True while a rebalance of the portfolio is not finished and does not wait for its owner. */
    readonly isRebalancing: (portfolioId: PortfolioId) => Effect.Effect<boolean>
    /** Moves to `to` when the lifecycle allows it from the present state, and appends the event of the change. */
    readonly transition: (change: StateChange) => Effect.Effect<boolean>
    readonly append: (event: NewEvent) => Effect.Effect<void>
    readonly events: (
      operationId: OperationId,
      afterSequence: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OperationEvent>>
    /** Due time of the longest overdue active schedule, if any is due; for metrics and readiness. */
    readonly oldestDue: (now: DateTime.Utc) => Effect.Effect<Option.Option<DateTime.Utc>>
  }
>()("ballast/domain/operation/OperationStore") {}
