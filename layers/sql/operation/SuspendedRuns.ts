/** Runs that cannot go on until an operator acts, in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SuspendedRun, SuspendedRuns } from "#domain/operation/SuspendedRuns.ts"
import { OperationId } from "#domain/values/Ids.ts"
import { cancellable, closeOperation } from "#layers/sql/operation/cancelRequests.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { woken } from "#layers/sql/run/wakeRun.ts"

const columns = `
  m.entity_id AS "executionId", substr(m.entity_type, 10) AS workflow,
  m.envelope::jsonb #>> '{payload,operationId}' AS "operationId",
  m.suspended_at AS "suspendedAt", coalesce(m.cause, '') AS cause, m.tries,
  (SELECT count(*)::int FROM workflow_steps s WHERE s.execution_id = m.entity_id) AS steps`

const isOperationId = Schema.is(OperationId)
const runs = decodeRows(Schema.Struct({ ...SuspendedRun.fields, suspendedAt: Timestamp }))
const counts = decodeRows(Schema.Struct({ count: Schema.Int }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isSuspended = `m.tag = 'run' AND m.suspended_at IS NOT NULL AND m.finished_at IS NULL`
  const isNamed = (id: string) => sql`(m.entity_id = ${id} OR m.envelope::jsonb #>> '{payload,operationId}' = ${id})`

  const find = Effect.fn("SuspendedRuns.find")((id: string) =>
    Effect.map(
      runs(sql`
        SELECT ${sql.literal(columns)} FROM workflow_messages m
        WHERE ${sql.literal(isSuspended)} AND ${isNamed(id)} LIMIT 1`),
      ([row]) => Option.fromUndefinedOr(row)
    )
  )

  /** One that was woken before it was suspended, or is to be, ends its timers when it begins. */
  const goOn = Effect.fnUntraced(function* (id: string, isWoken: boolean) {
    const at = timestamp(yield* DateTime.now)
    const resumed = yield* sql`
      UPDATE workflow_messages m SET suspended_at = NULL, cause = NULL, tries = 0, reply_id = NULL, reply = NULL,
        wake_at = CASE WHEN ${isWoken} OR wake_at = ${woken} THEN ${woken} ELSE ${at} END
      WHERE ${sql.literal(isSuspended)} AND ${isNamed(id)} RETURNING 1`
    return resumed.length > 0
  })

  const cancel = Effect.fn("SuspendedRuns.cancel")(
    function* (id: string) {
      const found = yield* find(id)
      if (Option.isNone(found)) return "Unknown"
      const { executionId, operationId } = found.value
      if (!isOperationId(operationId)) return "NotCancellable"
      yield* closeOperation(sql, operationId)
      const requested = yield* sql`
        UPDATE operations SET cancel_requested_at = coalesce(cancel_requested_at, ${timestamp(yield* DateTime.now)})
        WHERE operation_id = ${operationId} AND finished_at IS NULL AND ${cancellable(sql)} RETURNING 1`
      if (requested.length === 0) return "NotCancellable"
      return (yield* goOn(executionId, true)) ? "Requested" : "Unknown"
    },
    sql.withTransaction,
    Effect.orDie
  )

  return SuspendedRuns.of({
    count: Effect.map(
      counts(sql`SELECT count(*)::int AS count FROM workflow_messages m WHERE ${sql.literal(isSuspended)}`),
      ([row]) => row!.count
    ),
    list: Effect.fn("SuspendedRuns.list")((limit: number) =>
      runs(sql`
        SELECT ${sql.literal(columns)} FROM workflow_messages m WHERE ${sql.literal(isSuspended)}
        ORDER BY m.suspended_at, m.request_id LIMIT ${limit}`)
    ),
    find,
    resume: Effect.fn("SuspendedRuns.resume")((id: string) => Effect.orDie(goOn(id, false))),
    cancel
  })
})

export const layer = Layer.effect(SuspendedRuns, make)
