/** What portfolios' automation has done, in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { RunHistory } from "#domain/rebalance/RunHistory.ts"
import { decodeFirst, decodeRows, Timestamp } from "#layers/sql/rows.ts"

const firstCount = decodeFirst(Schema.Struct({ completed: Schema.Int, scheduleChangedAt: Schema.NullOr(Timestamp) }))
const allRuns = decodeRows(
  Schema.Struct({
    operationId: OperationId,
    state: OperationState,
    submittedAt: Timestamp,
    startedAt: Schema.NullOr(Timestamp)
  })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const read = Effect.fn("RunHistory.read")(function* (tenantId: TenantId, portfolioId: PortfolioId, limit: number) {
    const counted = yield* firstCount(sql`
      SELECT count(o.operation_id)::int AS completed,
        (SELECT updated_at FROM schedules WHERE portfolio_id = ${portfolioId} AND tenant_id = ${tenantId})
          AS "scheduleChangedAt"
      FROM operations o WHERE o.portfolio_id = ${portfolioId} AND o.tenant_id = ${tenantId}
        AND o.kind = 'rebalance' AND o.state = 'completed'`)
    const runs = yield* allRuns(sql`
      SELECT o.operation_id AS "operationId", o.state, o.submitted_at AS "submittedAt",
        (SELECT min(e.at) FROM operation_events e WHERE e.operation_id = o.operation_id
          AND e.kind = 'state' AND e.payload ->> 'state' = 'running') AS "startedAt"
      FROM operations o
      WHERE o.portfolio_id = ${portfolioId} AND o.tenant_id = ${tenantId} AND o.kind = 'rebalance'
      ORDER BY o.submitted_at DESC, o.operation_id DESC LIMIT ${limit}`)
    return { ...Option.getOrThrow(counted), runs }
  })

  return RunHistory.of({ read })
})

export const layer = Layer.effect(RunHistory, make)
