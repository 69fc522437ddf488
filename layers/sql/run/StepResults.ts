/**
 * Results of the steps of runs. Of two that store the same step the first one wins, and the other gets its result; a
 * process that has lost the run stores nothing.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fence } from "#layers/sql/run/RunFence.ts"

export interface StepResult extends Fence {
  readonly step: string
  /** JSON. */
  readonly result: string
}

export const stepKey = (executionId: string, step: string): string => `${executionId} ${step}`

interface Recorded {
  readonly execution_id: string
  readonly step: string
}

const keys = (rows: ReadonlyArray<Recorded>): ReadonlySet<string> =>
  new Set(rows.map((row) => stepKey(row.execution_id, row.step)))

export interface StepResults {
  /**
   * Deletes steps that a later one made superfluous. The run has stored a step, however many are left, so its next
   * begin is its first try.
   */
  readonly delete: (run: Fence, steps: ReadonlyArray<string>) => Effect.Effect<unknown, SqlError>
  /** Returns the keys (`stepKey`) of what was stored. */
  readonly record: (steps: ReadonlyArray<StepResult>) => Effect.Effect<ReadonlySet<string>, SqlError>
  /** Records inside a transaction, which no other can overtake between here and its commit. */
  readonly recordWithin: (step: StepResult) => Effect.Effect<ReadonlySet<string>, SqlError>
  /** What is stored of runs, by execution and step. */
  readonly read: (
    executionIds: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyMap<string, string>>, SqlError>
}

export const makeStepResults = (sql: SqlClient.SqlClient): StepResults => {
  const insert = (steps: ReadonlyArray<StepResult>, lock: "FOR SHARE" | "") => sql<Recorded>`
    WITH held AS MATERIALIZED (
      SELECT m.request_id, m.generation FROM workflow_messages m
      WHERE m.request_id = ANY(${steps.map((row) => row.requestId)}::text[]::bigint[]) ${sql.literal(lock)}
    )
    INSERT INTO workflow_steps (execution_id, step, result)
    SELECT n.execution_id, n.step, n.result
    FROM unnest(${steps.map((row) => row.executionId)}::text[], ${steps.map((row) => row.step)}::text[],
      ${steps.map((row) => row.result)}::text[], ${steps.map((row) => row.requestId)}::text[]::bigint[],
      ${steps.map((row) => String(row.generation))}::text[]::bigint[]) AS n (execution_id, step, result, request_id,
      generation)
    JOIN held h ON h.request_id = n.request_id AND h.generation = n.generation
    ON CONFLICT DO NOTHING RETURNING execution_id, step`

  return {
    delete: ({ executionId, requestId }, steps) => sql`
      WITH forgotten AS (
        DELETE FROM workflow_steps WHERE execution_id = ${executionId} AND step = ANY(${steps}::text[])
      )
      UPDATE workflow_messages SET steps_seen = -1 WHERE request_id = ${requestId}::text::bigint`,

    record: (steps) => Effect.map(insert(steps, ""), keys),

    recordWithin: (step) => Effect.map(insert([step], "FOR SHARE"), keys),

    read: (executionIds) =>
      Effect.map(
        sql<Recorded & { readonly result: string }>`
          SELECT execution_id, step, result FROM workflow_steps WHERE execution_id = ANY(${executionIds}::text[])`,
        (rows) => {
          const found = new Map(executionIds.map((executionId) => [executionId, new Map<string, string>()]))
          for (const row of rows) found.get(row.execution_id)?.set(row.step, row.result)
          return found
        }
      )
  }
}
