/** How operations are read. */
import { Schema } from "effect"
import { OperationId, PortfolioId, TenantId } from "#domain/Ids.ts"
import { OperationOutcome } from "#domain/operation/OperationResult.ts"
import { FiredBy, OperationKind, OperationState, Trigger } from "#domain/operation/Operation.ts"
import { decodeFirst, Timestamp } from "#layers/sql/rows.ts"

export const selectOperations = `
  SELECT operation_id AS "operationId", tenant_id AS "tenantId", portfolio_id AS "portfolioId", kind, trigger, state,
    submitted_at AS "submittedAt", updated_at AS "updatedAt", finished_at AS "finishedAt", error, outcome, reason, fired_by AS "firedBy"
  FROM operations`

export const OperationRow = Schema.Struct({
  operationId: OperationId,
  tenantId: TenantId,
  portfolioId: PortfolioId,
  kind: OperationKind,
  trigger: Trigger,
  state: OperationState,
  submittedAt: Timestamp,
  updatedAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp),
  error: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(OperationOutcome),
  reason: Schema.NullOr(Schema.String),
  firedBy: Schema.NullOr(FiredBy)
})

/** The operation in the first row of a query that selects with `selectOperations`. */
export const firstOperation = decodeFirst(OperationRow)
