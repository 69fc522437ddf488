/** Orders of owners in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Grant } from "#domain/account/Grant.ts"
import { type OrderEnd, OrderStore, type OrderSubmission, type NewOrder } from "#domain/order/OrderStore.ts"
import { OrderTerms, OrderOutcome, kindOf } from "#domain/order/OrderTerms.ts"
import { AssetId, WalletId } from "#domain/values/Caip.ts"
import { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { isTerminal, OperationState, stateOfEnd } from "#domain/operation/Operation.ts"
import { swapSourcesOf, SwapSourcesColumns } from "#layers/sql/allocationColumns.ts"
import { changeState, firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeFirst, Numeric, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { holdRun } from "#layers/sql/run/RunFence.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { sourceColumns, sourceTables } from "#layers/sql/withdrawal/withdrawalRows.ts"

const source = {
  tenantId: TenantId,
  portfolioId: PortfolioId,
  ownerAccountId: WalletId,
  ...SwapSourcesColumns,
  grants: Schema.NonEmptyArray(Grant),
  isRevoked: Schema.Boolean
}
const SourceRow = Schema.Struct(source)
const accepted = { operationId: OperationId, submittedAt: Timestamp, correlationId: Schema.String }
const OrderRow = Schema.Struct({
  ...source,
  ...accepted,
  order: OrderTerms,
  promised: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Numeric }))
})
const ReplayRow = Schema.Struct({ ...accepted, isSameRequest: Schema.Boolean })

const firstSource = decodeFirst(SourceRow)
const firstAction = decodeFirst(OrderRow)
const firstReplay = decodeFirst(ReplayRow)
const firstOutcome = decodeFirst(Schema.Struct({ outcome: Schema.NullOr(OrderOutcome) }))
const firstState = decodeFirst(Schema.Struct({ state: OperationState }))
const encodeOrder = Schema.encodeSync(OrderTerms)
const encodeOutcome = Schema.encodeSync(OrderOutcome)

const toSource = (row: typeof SourceRow.Type) => ({
  tenantId: row.tenantId,
  portfolioId: row.portfolioId,
  ownerAccountId: row.ownerAccountId,
  grants: row.grants,
  swap: swapSourcesOf(row),
  isRevoked: row.isRevoked
})

const submissionOf = ({ isSameRequest, ...first }: typeof ReplayRow.Type): OrderSubmission =>
  isSameRequest ? { _tag: "Replayed", accepted: first } : { _tag: "Mismatch" }

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(`${sourceColumns}, p.revoked_at IS NOT NULL AS "isRevoked"`)
  const tables = sql.literal(sourceTables)

  const findSource = Effect.fn("OrderStore.source")((portfolioId: PortfolioId) =>
    Effect.map(
      firstSource(
        sql`SELECT ${columns} FROM ${tables} WHERE p.portfolio_id = ${portfolioId} AND p.archived_at IS NULL`
      ),
      Option.map(toSource)
    )
  )

  const replay = Effect.fn("OrderStore.replay")((portfolioId: PortfolioId, requestId: string, hash: Uint8Array) =>
    Effect.map(
      firstReplay(sql`
        SELECT a.operation_id AS "operationId", o.submitted_at AS "submittedAt", a.correlation_id AS "correlationId",
          a.request_hash = ${hash} AS "isSameRequest"
        FROM orders a JOIN operations o ON o.operation_id = a.operation_id
        WHERE a.portfolio_id = ${portfolioId} AND a.request_id = ${requestId}`),
      Option.map(submissionOf)
    )
  )

  const insert = Effect.fnUntraced(function* (action: NewOrder) {
    const { operationId, portfolioId, tenantId } = action
    const at = timestamp(action.submittedAt)
    yield* sql`
      WITH inserted AS (
        INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
          last_sequence)
        VALUES (${operationId}, ${tenantId}, ${portfolioId}, ${kindOf(action.order)}, 'manual', 'accepted', ${at},
          ${at}, 1)
        RETURNING operation_id, submitted_at, trigger
      ) ${firstEvents(sql)}`
    const mine = yield* sql`
      INSERT INTO orders (operation_id, portfolio_id, request_id, request_hash, correlation_id, order_document)
      VALUES (${operationId}, ${portfolioId}, ${action.requestId}, ${action.requestHash}, ${action.correlationId},
        ${storableJson(encodeOrder(action.order))}::jsonb)
      ON CONFLICT DO NOTHING RETURNING 1`
    // The operation goes with the transaction: the one that was first is answered.
    if (mine.length === 0) return yield* Effect.fail("taken" as const)
  }, sql.withTransaction)

  const submit = Effect.fn("OrderStore.submit")((action: NewOrder) =>
    insert(action).pipe(
      Effect.as<OrderSubmission>({ _tag: "Accepted", accepted: action }),
      Effect.catch((failure) =>
        failure === "taken" && action.requestId !== null
          ? Effect.map(replay(action.portfolioId, action.requestId, action.requestHash), Option.getOrThrow)
          : Effect.die(failure)
      )
    )
  )

  const find = Effect.fn("OrderStore.find")((operationId: OperationId) =>
    Effect.map(
      firstAction(sql`
        SELECT ${columns}, a.operation_id AS "operationId", o.submitted_at AS "submittedAt",
          a.correlation_id AS "correlationId", a.order_document AS "order",
          (SELECT coalesce(jsonb_agg(jsonb_build_object('assetId', asset ->> 'assetId', 'raw', asset ->> 'amountRaw')),
            '[]'::jsonb)
            FROM withdrawals w JOIN operations wo ON wo.operation_id = w.operation_id AND wo.finished_at IS NULL
            CROSS JOIN jsonb_array_elements(w.message -> 'assets') asset
            WHERE w.portfolio_id = a.portfolio_id) AS promised
        FROM orders a JOIN operations o ON o.operation_id = a.operation_id
        JOIN (${tables}) ON p.portfolio_id = a.portfolio_id WHERE a.operation_id = ${operationId}`),
      Option.map(({ correlationId, operationId, order, promised, submittedAt, ...row }) => ({
        ...toSource(row),
        operationId,
        submittedAt,
        correlationId,
        order,
        promised
      }))
    )
  )

  const outcomeOf = Effect.fn("OrderStore.outcome")((operationId: OperationId) =>
    Effect.map(
      firstOutcome(sql`SELECT outcome FROM orders WHERE operation_id = ${operationId}`),
      Option.match({ onNone: () => null, onSome: ({ outcome }) => outcome })
    )
  )

  const requireFinished = Effect.fnUntraced(function* (operationId: OperationId, to: OperationState) {
    const found = yield* firstState(sql`SELECT state FROM operations WHERE operation_id = ${operationId}`)
    if (Option.isNone(found) || !isTerminal(found.value.state)) {
      return yield* Effect.die(new Error(`Operation ${operationId} cannot become ${to} in the state that it is in`))
    }
  })

  const finish = Effect.fn("OrderStore.finish")(
    function* ({ at, ended, error, isCancelled, operationId, outcome }: OrderEnd) {
      yield* holdRun(sql)
      const to = stateOfEnd(error, isCancelled)
      // The portfolio first: every statement that locks both rows does so in this order.
      yield* sql`
        SELECT 1 FROM portfolios p JOIN operations o ON o.portfolio_id = p.portfolio_id
        WHERE o.operation_id = ${operationId} FOR NO KEY UPDATE OF p`
      const [changed] = yield* changeState(sql, { operationId, to, at, error, ended })
      if (changed === undefined) return yield* requireFinished(operationId, to)
      const stored = outcome === null ? null : storableJson(encodeOutcome(outcome))
      yield* sql`UPDATE orders SET outcome = ${stored}::jsonb WHERE operation_id = ${operationId}`
      yield* sql`
        UPDATE portfolios SET updated_at = greatest(updated_at + interval '1 millisecond', ${timestamp(at)})
        WHERE portfolio_id = ${changed.portfolio_id}`
    },
    sql.withTransaction,
    Effect.orDie
  )

  return OrderStore.of({ source: findSource, replay, submit, find, outcome: outcomeOf, finish })
})

export const layer = Layer.effect(OrderStore, make)
