/** What streams of operations read besides their events, in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { chainCompleted } from "#domain/rebalance/ChainCompletion.ts"
import { stateEvent } from "#domain/operation/Operation.ts"
import type { PageRequest } from "#domain/values/Cursor.ts"
import { ExecutionLog, type Reader } from "#domain/execution/ExecutionLog.ts"
import type { ReadAccess } from "#domain/execution/ExecutionReader.ts"
import { OperationId } from "#domain/values/Ids.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import type { OperationFilter } from "#domain/operation/OperationStore.ts"
import { portfoliosOf } from "#layers/sql/portfoliosOf.ts"
import { OperationRow, selectOperations } from "#layers/sql/operation/operationRows.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { stepsOf, StepsRow } from "#layers/sql/execution/landedSteps.ts"

const HeadRow = Schema.Struct({ ...OperationRow.fields, sequence: Schema.Int, at: Timestamp })
const firstHead = decodeFirst(HeadRow)
const allHeads = decodeRows(HeadRow)
const firstHistory = decodeFirst(
  Schema.Struct({
    sequence: Schema.Int,
    at: Timestamp,
    state: Schema.NullOr(OperationState),
    error: Schema.NullOr(Schema.String),
    completedSteps: Schema.Int,
    totalSteps: Schema.NullOr(Schema.Int),
    recovered: Schema.Boolean
  })
)
const firstSteps = decodeFirst(StepsRow)
const allGrown = decodeRows(Schema.Struct({ operationId: OperationId }))

const toHead = ({ at, sequence, ...operation }: typeof HeadRow.Type) => ({ operation, at, sequence })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Operations `o` with their last event; of a finished one that is the change to its terminal state. */
  const headsOf = (operations: Statement.Fragment) => sql`
    SELECT o.*, e.sequence, e.at FROM (${operations}) o
    CROSS JOIN LATERAL (
      SELECT sequence, at FROM operation_events
      WHERE operation_id = o."operationId" AND (o."finishedAt" IS NULL OR kind = ${stateEvent})
      ORDER BY sequence DESC LIMIT 1
    ) e`

  const head = Effect.fn("ExecutionLog.head")(({ tenantId, walletId }: ReadAccess, operationId: OperationId) => {
    const mine = sql`tenant_id = ${tenantId}`
    const own = walletId === null ? mine : sql.or([mine, sql`portfolio_id IN (${portfoliosOf(sql, walletId)})`])
    return Effect.map(
      firstHead(headsOf(sql`${sql.literal(selectOperations)} WHERE operation_id = ${operationId} AND ${own}`)),
      Option.map(toHead)
    )
  })

  const list = Effect.fn("ExecutionLog.list")((
    { tenantId, walletId }: ReadAccess,
    { kind, portfolioId, state }: Omit<OperationFilter, "since">,
    { after, limit }: PageRequest
  ) => {
    const most = limit + 1
    const inOrder = sql`ORDER BY submitted_at DESC, operation_id DESC LIMIT ${most}`
    const filters = (whose: Statement.Fragment) => {
      const conditions = [whose]
      if (portfolioId !== undefined) conditions.push(sql`portfolio_id = ${portfolioId}`)
      if (kind !== undefined) conditions.push(sql`kind = ${kind}`)
      if (state !== undefined) conditions.push(sql`state = ${state}`)
      if (after !== null)
        conditions.push(sql`(submitted_at, operation_id) < (${timestamp(after.createdAt)}, ${after.id})`)
      return sql.and(conditions)
    }
    const select = sql.literal(selectOperations)
    const ofTenant = sql`${select} WHERE ${filters(sql`tenant_id = ${tenantId}`)} ${inOrder}`
    // Each half is read in order from an index of its own; a wallet owns few portfolios.
    const operations =
      walletId === null
        ? ofTenant
        : sql`
            (${ofTenant}) UNION
            SELECT ofWallet.* FROM (${portfoliosOf(sql, walletId)}) p
            CROSS JOIN LATERAL (${select} WHERE ${filters(sql`portfolio_id = p.portfolio_id`)} ${inOrder}) ofWallet`
    return Effect.map(
      allHeads(sql`${headsOf(operations)} ORDER BY o."submittedAt" DESC, o."operationId" DESC LIMIT ${most}`),
      (rows) => rows.map(toHead)
    )
  })

  const historyAt = Effect.fn("ExecutionLog.historyAt")((operationId: OperationId, sequence: number) =>
    firstHistory(sql`
      SELECT last.sequence, last.at, state.payload ->> 'state' AS state, state.payload ->> 'error' AS error,
        counted.steps AS "completedSteps", counted.total AS "totalSteps", counted.recovered
      FROM operation_events last
      LEFT JOIN LATERAL (
        SELECT payload FROM operation_events
        WHERE operation_id = ${operationId} AND sequence <= ${sequence} AND kind = ${stateEvent}
        ORDER BY sequence DESC LIMIT 1
      ) state ON true
      CROSS JOIN LATERAL (
        SELECT (count(*) FILTER (WHERE kind = ${chainCompleted}))::int AS steps,
          max((payload ->> 'totalSteps')::int) FILTER (WHERE kind = ${chainCompleted}) AS total,
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
          (SELECT outcome FROM orders WHERE operation_id = ${operationId}) AS action`),
      Option.match({ onNone: () => [], onSome: stepsOf })
    )
  )

  return ExecutionLog.of({ head, list, historyAt, grown, steps })
})

export const layer = Layer.effect(ExecutionLog, make)
