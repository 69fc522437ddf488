/** Operations and their events in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationKind } from "#domain/operation/Operation.ts"
import { OperationResult } from "#domain/operation/OperationResult.ts"
import type { PageRequest } from "#domain/values/Cursor.ts"
import {
  type NewEvent,
  type OperationFilter,
  OperationStore,
  type StateChange
} from "#domain/operation/OperationStore.ts"
import { batched } from "#domain/effects/batched.ts"
import { changeStates, type ReportedChange } from "#layers/sql/operation/operationEvents.ts"
import { OperationRow, selectOperations } from "#layers/sql/operation/operationRows.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { RunFence } from "#layers/sql/run/RunFence.ts"
import { storableJson } from "#layers/sql/storable.ts"
import { makeCancelRequests } from "#layers/sql/operation/cancelRequests.ts"
import { makeSubmitManual } from "#layers/sql/operation/submitManual.ts"

const EventRow = Schema.Struct({
  operationId: OperationId,
  sequence: Schema.Int,
  at: Timestamp,
  kind: Schema.String,
  payload: Schema.Json
})

const ReportedRow = Schema.Struct({
  ...OperationRow.fields,
  result: Schema.NullOr(Schema.toCodecJson(OperationResult))
})

const firstReported = decodeFirst(ReportedRow)
const allOperations = decodeRows(OperationRow)
const allEvents = decodeRows(EventRow)
const allLaunches = decodeRows(Schema.Struct({ operationId: OperationId, kind: OperationKind }))
const firstDue = decodeFirst(Schema.Struct({ dueAt: Timestamp }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const find = Effect.fn("OperationStore.find")(
    (tenantId: TenantId, portfolioId: PortfolioId, operationId: OperationId) =>
      firstReported(sql`
      SELECT o.*, r.result
      FROM (${sql.literal(selectOperations)}) o JOIN operations r ON r.operation_id = o."operationId"
      WHERE r.operation_id = ${operationId} AND r.portfolio_id = ${portfolioId} AND r.tenant_id = ${tenantId}`)
  )

  const list = Effect.fn("OperationStore.list")((
    tenantId: TenantId,
    filter: OperationFilter,
    { after, limit }: PageRequest
  ) => {
    const { kind, portfolioId, since, state } = filter
    // Each filter has an index that yields the page without sorting; of several the narrowest is for the planner to
    // choose.
    const conditions = [sql`tenant_id = ${tenantId}`]
    if (portfolioId !== undefined) conditions.push(sql`portfolio_id = ${portfolioId}`)
    if (kind !== undefined) conditions.push(sql`kind = ${kind}`)
    if (state !== undefined) conditions.push(sql`state = ${state}`)
    if (since !== undefined) conditions.push(sql`submitted_at >= ${timestamp(since)}`)
    if (after !== null)
      conditions.push(sql`(submitted_at, operation_id) < (${timestamp(after.createdAt)}, ${after.id})`)
    return allOperations(sql`
        ${sql.literal(selectOperations)} WHERE ${sql.and(conditions)}
        ORDER BY submitted_at DESC, operation_id DESC LIMIT ${limit + 1}`)
  })

  const accepted = Effect.fn("OperationStore.accepted")((before: DateTime.Utc, limit: number) =>
    allLaunches(sql`
      SELECT operation_id AS "operationId", kind FROM operations
      WHERE state = 'accepted' AND submitted_at < ${timestamp(before)} ORDER BY submitted_at, operation_id
      LIMIT ${limit}`)
  )

  const isRebalancing = Effect.fn("OperationStore.isRebalancing")(function* (portfolioId: PortfolioId) {
    const unfinished = yield* sql`
      SELECT 1 FROM operations WHERE portfolio_id = ${portfolioId} AND kind = 'rebalance' AND finished_at IS NULL
        AND state <> 'awaiting_user'`
    return unfinished.length > 0
  }, Effect.orDie)

  const changeMany = yield* batched(
    ({ operationId }) => operationId,
    (changes: ReadonlyArray<ReportedChange>) =>
      Effect.map(changeStates(sql, changes), (rows) => {
        const changed = new Set(rows.map((row) => row.operation_id))
        return ({ operationId }: ReportedChange) => changed.has(operationId)
      })
  )

  const transition = Effect.fnUntraced(function* (change: StateChange) {
    const fenced = { ...change, fence: yield* RunFence }
    const isInTransaction = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
    if (!isInTransaction) return yield* changeMany(fenced)
    return (yield* changeStates(sql, [fenced])).length > 0
  }, Effect.orDie)

  const append = Effect.fn("OperationStore.append")(function* ({ at, kind, operationId, payload }: NewEvent) {
    const appended = yield* sql`
      WITH operation AS (
        UPDATE operations SET last_sequence = last_sequence + 1 WHERE operation_id = ${operationId}
        RETURNING operation_id, last_sequence
      )
      INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
      SELECT operation_id, last_sequence, ${timestamp(at)}, ${kind}, ${storableJson(payload)}::jsonb FROM operation
      RETURNING 1`
    if (appended.length === 0)
      return yield* Effect.die(new Error(`Operation ${operationId} does not exist: no event can be appended`))
  }, Effect.orDie)

  const events = Effect.fn("OperationStore.events")((operationId: OperationId, afterSequence: number, limit: number) =>
    allEvents(sql`
      SELECT operation_id AS "operationId", sequence, at, kind, payload FROM operation_events
      WHERE operation_id = ${operationId} AND sequence > ${afterSequence} ORDER BY sequence LIMIT ${limit}`)
  )

  const oldestDue = Effect.fn("OperationStore.oldestDue")((now: DateTime.Utc) =>
    Effect.map(
      firstDue(sql`
        SELECT due_at AS "dueAt" FROM schedules WHERE status = 'active' AND due_at <= ${timestamp(now)}
        ORDER BY due_at, portfolio_id LIMIT 1`),
      Option.map((row) => row.dueAt)
    )
  )

  const cancelRequested = yield* batched(
    (operationId) => operationId,
    (operationIds: ReadonlyArray<OperationId>) =>
      Effect.map(
        sql<{ readonly id: OperationId }>`
          SELECT operation_id AS id FROM operations
          WHERE operation_id = ANY(${operationIds}::text[]) AND cancel_requested_at IS NOT NULL`,
        (rows) => {
          const requested = new Set(rows.map(({ id }) => id))
          return (operationId: OperationId) => requested.has(operationId)
        }
      )
  )
  const isCancelRequested = Effect.fn("OperationStore.isCancelRequested")((operationId: OperationId) =>
    Effect.orDie(cancelRequested(operationId))
  )

  return OperationStore.of({
    find,
    list,
    submitManual: makeSubmitManual(sql),
    ...makeCancelRequests(sql, find),
    isCancelRequested,
    accepted,
    isRebalancing,
    transition,
    append,
    events,
    oldestDue
  })
})

export const layer = Layer.effect(OperationStore, make)
