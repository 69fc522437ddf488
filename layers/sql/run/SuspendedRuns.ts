/**
 * Runs that cannot go on without somebody who looks at them: they failed by a defect again and again, never came to
 * their first step, or hold a stored result that this version cannot read. What they have done is stored; a run that is
 * resumed goes on behind it.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const columns = `
  m.entity_id AS "executionId", substr(m.entity_type, 10) AS workflow, m.envelope::jsonb #>> '{payload,operationId}' AS "operationId",
  m.suspended_at AS "suspendedAt", coalesce(m.cause, '') AS cause, m.tries,
  (SELECT count(*)::int FROM workflow_steps s WHERE s.execution_id = m.entity_id) AS steps`

export const SuspendedRun = Schema.Struct({
  executionId: Schema.String,
  workflow: Schema.String,
  operationId: Schema.NullOr(Schema.String),
  suspendedAt: Timestamp,
  cause: Schema.String,
  tries: Schema.Int,
  /** Steps that are stored. */
  steps: Schema.Int
})
export type SuspendedRun = typeof SuspendedRun.Type

const runs = decodeRows(SuspendedRun)
const counts = decodeRows(Schema.Struct({ count: Schema.Int }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isSuspended = `m.tag = 'run' AND m.suspended_at IS NOT NULL AND m.finished_at IS NULL`
  const isNamed = (id: string) => sql`(m.entity_id = ${id} OR m.envelope::jsonb #>> '{payload,operationId}' = ${id})`

  return {
    count: Effect.map(
      counts(sql`SELECT count(*)::int AS count FROM workflow_messages m WHERE ${sql.literal(isSuspended)}`),
      ([row]) => row!.count
    ),
    /** Those that stand longest first. */
    list: (limit: number) =>
      runs(sql`
        SELECT ${sql.literal(columns)} FROM workflow_messages m WHERE ${sql.literal(isSuspended)}
        ORDER BY m.suspended_at, m.request_id LIMIT ${limit}`),
    /** By the id of the run or of its operation. */
    find: (id: string) =>
      Effect.map(
        runs(sql`
          SELECT ${sql.literal(columns)} FROM workflow_messages m
          WHERE ${sql.literal(isSuspended)} AND ${isNamed(id)} LIMIT 1`),
        ([row]) => Option.fromUndefinedOr(row)
      ),
    /** Lets a run go on with all of its tries; false when no suspended run has that id. */
    resume: Effect.fnUntraced(function* (id: string) {
      const at = timestamp(yield* DateTime.now)
      const resumed = yield* sql`
        UPDATE workflow_messages m SET suspended_at = NULL, cause = NULL, tries = 0, reply_id = NULL, reply = NULL, wake_at = ${at}
        WHERE ${sql.literal(isSuspended)} AND ${isNamed(id)} RETURNING 1`
      return resumed.length > 0
    }, Effect.orDie)
  }
})

export class SuspendedRuns extends Context.Service<SuspendedRuns, Effect.Success<typeof make>>()(
  "ballast/layers/sql/run/SuspendedRuns"
) {
  static readonly layer = Layer.effect(SuspendedRuns, make)
}
