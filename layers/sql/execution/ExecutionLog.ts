/** What streams of operations read besides their events, in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { chainSettled } from "#domain/rebalance/ChainSettled.ts"
import { stateEvent } from "#domain/operation/Operation.ts"
import { ExecutionLog, type Reader } from "#domain/execution/ExecutionLog.ts"
import { OperationId, type TenantId } from "#domain/Ids.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { OperationRow, selectOperations } from "#layers/sql/operation/operationRows.ts"
import { decodeFirst, decodeRows, Timestamp } from "#layers/sql/rows.ts"
import { stepsOf, StepsRow } from "#layers/sql/execution/landedSteps.ts"

const firstHead = decodeFirst(Schema.Struct({ ...OperationRow.fields, sequence: Schema.Int, at: Timestamp }))
const firstHistory = decodeFirst(
  Schema.Struct({
    sequence: Schema.Int,
    at: Timestamp,
    state: Schema.NullOr(OperationState),
    error: Schema.NullOr(Schema.String),
    completedSteps: Schema.Int,
    recovered: Schema.Boolean
  })
)
const firstSteps = decodeFirst(StepsRow)
const allGrown = decodeRows(Schema.Struct({ operationId: OperationId }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const head = Effect.fn("ExecutionLog.head")((tenantId: TenantId, operationId: OperationId) =>
    Effect.map(
      firstHead(sql`
        SELECT o.*, e.sequence, e.at
        FROM (${sql.literal(selectOperations)} WHERE operation_id = ${operationId} AND tenant_id = ${tenantId}) o
        CROSS JOIN LATERAL (
          SELECT sequence, at FROM operation_events
          WHERE operation_id = ${operationId} AND (o."finishedAt" IS NULL OR kind = ${stateEvent})
          ORDER BY sequence DESC LIMIT 1
        ) e`),
      Option.map(({ at, sequence, ...operation }) => ({ operation, at, sequence }))
    )
  )

  const historyAt = Effect.fn("ExecutionLog.historyAt")((operationId: OperationId, sequence: number) =>
    firstHistory(sql`
      SELECT last.sequence, last.at, state.payload ->> 'state' AS state, state.payload ->> 'error' AS error,
        counted.steps AS "completedSteps", counted.recovered
      FROM operation_events last
      LEFT JOIN LATERAL (
        SELECT payload FROM operation_events
        WHERE operation_id = ${operationId} AND sequence <= ${sequence} AND kind = ${stateEvent}
        ORDER BY sequence DESC LIMIT 1
      ) state ON true
      CROSS JOIN LATERAL (
        SELECT (count(*) FILTER (WHERE kind = ${chainSettled}))::int AS steps,
          coalesce(bool_or(kind = ${stateEvent} AND payload ->> 'state' = 'retrying'), false) AS recovered
        FROM operation_events WHERE operation_id = ${operationId} AND sequence <= ${sequence}
      ) counted
      WHERE last.operation_id = ${operationId} AND last.sequence = ${sequence}`)
  )

  const grown = Effect.fn("ExecutionLog.grown")((readers: ReadonlyArray<Reader>) =>
    readers.length === 0
      ? Effect.succeed([])
      : Effect.map(
          allGrown(sql`
            SELECT o.operation_id AS "operationId" FROM operations o
            JOIN unnest(${readers.map(({ operationId }) => operationId)}::text[],
              ${readers.map(({ sequence }) => sequence)}::int[]) AS r (operation_id, sequence)
              ON r.operation_id = o.operation_id
            WHERE o.last_sequence > r.sequence`),
          (rows) => rows.map(({ operationId }) => operationId)
        )
  )

  const steps = Effect.fn("ExecutionLog.steps")((operationId: OperationId) =>
    Effect.map(
      firstSteps(sql`
        SELECT (SELECT report FROM rebalance_runs WHERE operation_id = ${operationId}) AS report,
          (SELECT jsonb_build_object('accountId', account_id, 'outcome', outcome)
            FROM withdrawals WHERE operation_id = ${operationId}) AS withdrawal,
          (SELECT jsonb_build_object('accountId', account_id, 'txHash', tx_hash, 'ending', ending)
            FROM transfers WHERE operation_id = ${operationId}) AS transfer,
          (SELECT outcome FROM actions WHERE operation_id = ${operationId}) AS action`),
      Option.match({ onNone: () => [], onSome: stepsOf })
    )
  )

  return ExecutionLog.of({ head, historyAt, grown, steps })
})

export const layer = Layer.effect(ExecutionLog, make)
