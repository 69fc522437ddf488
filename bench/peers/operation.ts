/** The peer's read of an operation. */
import type { Pool } from "pg"

const findOperation = `
  SELECT operation_id, portfolio_id, kind, state, submitted_at, updated_at, finished_at, error,
    trigger, outcome, reason, result FROM operations
  WHERE operation_id = $1 AND portfolio_id = $2 AND tenant_id = $3`

interface Row {
  readonly operation_id: string
  readonly portfolio_id: string
  readonly kind: string
  readonly state: string
  readonly submitted_at: Date
  readonly updated_at: Date
  readonly finished_at: Date | null
  readonly error: string | null
  readonly trigger: string
  readonly outcome: string | null
  readonly reason: string | null
  /** The operations that are measured have none. */
  readonly result: object | null
}

interface OperationOf {
  readonly tenantId: string
  readonly portfolioId: string
  readonly operationId: string
}

/** Undefined when the tenant's portfolio has no such operation. */
export const readOperation = async (pool: Pool, { operationId, portfolioId, tenantId }: OperationOf) => {
  const values = [operationId, portfolioId, tenantId]
  const { rows } = await pool.query<Row>({ name: "find-operation", text: findOperation, values })
  const [row] = rows
  if (row === undefined) return undefined
  const submittedAt = row.submitted_at.toISOString()
  return {
    operationId: row.operation_id,
    portfolioId: row.portfolio_id,
    kind: row.kind,
    state: row.state,
    submittedAt,
    createdAt: submittedAt,
    updatedAt: row.updated_at.toISOString(),
    finishedAt: row.finished_at === null ? null : row.finished_at.toISOString(),
    error: row.error,
    trigger: row.trigger,
    outcome: row.outcome,
    reason: row.reason,
    result: row.result
  }
}
