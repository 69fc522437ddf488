/**
 * One event of a tenant's log. What happened to an operation, a portfolio, an enrollment or a strategy, in one order.
 */
import { type DateTime, Schema } from "effect"
import { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import { FlowId, type OperationId, type PortfolioId, type StrategyId } from "#domain/values/Ids.ts"
import { OperationKind, OperationState, OperationOrigin } from "#domain/operation/Operation.ts"
import { OperationOutcome } from "#domain/operation/OperationResult.ts"

const ofOperation = { kind: OperationKind, trigger: OperationOrigin, sequence: Schema.Int }

/** What each type contains. `sequence` is the event's number within its operation. */
export const EventBody = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("operation.state_changed"),
    data: Schema.Struct({
      ...ofOperation,
      state: OperationState,
      error: Schema.NullOr(Schema.String),
      outcome: Schema.NullOr(OperationOutcome)
    })
  }),
  Schema.Struct({
    type: Schema.Literal("operation.progressed"),
    data: Schema.Struct({ ...ofOperation, event: Schema.String, detail: Schema.Json })
  }),
  Schema.Struct({
    type: Schema.Literals([
      "portfolio.enrolled",
      "portfolio.renamed",
      "portfolio.archived",
      "portfolio.revoked",
      "portfolio.permitted",
      "portfolio.started",
      "portfolio.paused"
    ]),
    data: Schema.Struct({})
  }),
  Schema.Struct({
    type: Schema.Literal("portfolio.foreign_authority"),
    data: ForeignAuthority
  }),
  Schema.Struct({
    type: Schema.Literal("enrollment.started"),
    data: Schema.Struct({ flowId: FlowId })
  }),
  Schema.Struct({
    type: Schema.Literals([
      "strategy.created",
      "strategy.version_published",
      "strategy.archived",
      "strategy.restored",
      "strategy.deleted"
    ]),
    data: Schema.Struct({ version: Schema.Int })
  })
])
export type EventBody = typeof EventBody.Type

export interface TenantEvent {
  /** Rises by one within the tenant; never used twice. */
  readonly sequence: number
  readonly at: DateTime.Utc
  readonly operationId: OperationId | null
  readonly portfolioId: PortfolioId | null
  readonly strategyId: StrategyId | null
  readonly body: EventBody
}
