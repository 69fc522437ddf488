/** How operations are read. */
import { Schema } from "effect"
import { Operation } from "#domain/operation/Operation.ts"
import { decodeFirst, Timestamp } from "#layers/sql/rows.ts"

export const selectOperations = `
  SELECT operation_id AS "operationId", tenant_id AS "tenantId", portfolio_id AS "portfolioId", kind, trigger, state,
    submitted_at AS "submittedAt", updated_at AS "updatedAt", finished_at AS "finishedAt", error, outcome, reason,
    fired_by AS "firedBy"
  FROM operations`

/** The operation, with its moments as columns have them. */
export const OperationRow = Schema.Struct({
  ...Operation.fields,
  submittedAt: Timestamp,
  updatedAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp)
})

/** The operation in the first row of a query that selects with `selectOperations`. */
export const firstOperation = decodeFirst(OperationRow)
