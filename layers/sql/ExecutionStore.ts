/**
 * Executions of workflows, their steps and the runners that work on them, in PostgreSQL.
 *
 * Statements take many rows at once, because that is what makes a run cheap. Every write of a run says who owns it and
 * does nothing when somebody else does by now; of two that write the same step the first one wins, and the other learns it.
 */
import { Context, type DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { timestamp } from "#layers/sql/rows.ts"

export interface NewExecution {
  readonly executionId: string
  readonly workflow: string
  /** JSON. */
  readonly payload: string
  /** The runner that starts it at once; null when it waits for one that is free. */
  readonly owner: string | null
  readonly at: DateTime.Utc
}

export interface StepResult {
  readonly executionId: string
  readonly step: string
  /** JSON. */
  readonly result: string
  /** The runner that did it. */
  readonly owner: string
}

/** An execution that was claimed, with what it has done so far by the names of the steps. */
export interface Claimed {
  readonly executionId: string
  readonly workflow: string
  readonly payload: string
  readonly steps: ReadonlyMap<string, string>
}

export interface Runner {
  readonly runnerId: string
  readonly beat: bigint
}

export const stepKey = (executionId: string, step: string): string => `${executionId} ${step}`

interface ClaimRow {
  readonly executionId: string
  readonly workflow: string
  readonly payload: string
}

const mostAtOnce = 1_000

type StepRow = Omit<StepResult, "owner">

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const insert = (executions: ReadonlyArray<NewExecution>): Effect.Effect<ReadonlySet<string>, SqlError> =>
    Effect.map(
      sql<{ readonly execution_id: string }>`
        INSERT INTO workflow_executions (execution_id, workflow, payload, owner, wake_at, created_at)
        SELECT execution_id, workflow, payload, nullif(owner, ''), at, at
        FROM unnest(${executions.map((row) => row.executionId)}::text[], ${executions.map((row) => row.workflow)}::text[],
          ${executions.map((row) => row.payload)}::text[], ${executions.map((row) => row.owner ?? "")}::text[],
          ${executions.map((row) => timestamp(row.at))}::timestamptz[]) AS n (execution_id, workflow, payload, owner, at)
        ON CONFLICT DO NOTHING RETURNING execution_id`,
      (rows) => new Set(rows.map((row) => row.execution_id))
    )

  const record = (steps: ReadonlyArray<StepResult>): Effect.Effect<ReadonlySet<string>, SqlError> =>
    Effect.map(
      sql<{ readonly execution_id: string; readonly step: string }>`
        INSERT INTO workflow_steps (execution_id, step, result)
        SELECT n.execution_id, n.step, n.result
        FROM unnest(${steps.map((row) => row.executionId)}::text[], ${steps.map((row) => row.step)}::text[],
          ${steps.map((row) => row.result)}::text[], ${steps.map((row) => row.owner)}::text[])
          AS n (execution_id, step, result, owner)
        JOIN workflow_executions e ON e.execution_id = n.execution_id AND e.owner = n.owner
        ON CONFLICT DO NOTHING RETURNING execution_id, step`,
      (rows) => new Set(rows.map((row) => stepKey(row.execution_id, row.step)))
    )

  const stepsOf = (executionIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<StepRow>, SqlError> =>
    sql<StepRow>`
      SELECT execution_id AS "executionId", step, result FROM workflow_steps
      WHERE execution_id = ANY(${executionIds}::text[])`

  const withSteps = Effect.fnUntraced(function* (rows: ReadonlyArray<ClaimRow>) {
    if (rows.length === 0) return []
    const steps = new Map(rows.map(({ executionId }) => [executionId, new Map<string, string>()]))
    for (const { executionId, result, step } of yield* stepsOf([...steps.keys()]))
      steps.get(executionId)?.set(step, result)
    return rows.map((row): Claimed => ({ ...row, steps: steps.get(row.executionId)! }))
  })

  const claim = Effect.fn("ExecutionStore.claim")(function* (
    owner: string,
    workflows: ReadonlyArray<string>,
    at: DateTime.Utc,
    limit: number
  ) {
    const rows = yield* sql<ClaimRow>`
      WITH due AS MATERIALIZED (
        SELECT execution_id FROM workflow_executions
        WHERE owner IS NULL AND finished_at IS NULL AND wake_at <= ${timestamp(at)}
          AND workflow = ANY(${workflows}::text[])
        ORDER BY wake_at, execution_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE workflow_executions e SET owner = ${owner} FROM due WHERE e.execution_id = due.execution_id
      RETURNING e.execution_id AS "executionId", e.workflow, e.payload`
    return yield* withSteps(rows)
  })

  const reload = Effect.fn("ExecutionStore.reload")(function* (owner: string, executionId: string) {
    const [claimed] = yield* withSteps(
      yield* sql<ClaimRow>`
        SELECT execution_id AS "executionId", workflow, payload FROM workflow_executions
        WHERE execution_id = ${executionId} AND owner = ${owner} AND finished_at IS NULL`
    )
    return claimed
  })

  const finish = (owner: string, executionIds: ReadonlyArray<string>, at: DateTime.Utc) => sql`
    UPDATE workflow_executions SET owner = NULL, finished_at = ${timestamp(at)}
    WHERE execution_id = ANY(${executionIds}::text[]) AND owner = ${owner}`

  const sleep = (owner: string, executionId: string, until: DateTime.Utc) => sql`
    UPDATE workflow_executions SET owner = NULL, wake_at = ${timestamp(until)}
    WHERE execution_id = ${executionId} AND owner = ${owner}`

  const ownedBeside = (owner: string, known: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, SqlError> =>
    Effect.map(
      sql<{ readonly execution_id: string }>`
        SELECT execution_id FROM workflow_executions
        WHERE owner = ${owner} AND finished_at IS NULL AND execution_id <> ALL(${known}::text[]) LIMIT ${mostAtOnce}`,
      (rows) => rows.map((row) => row.execution_id)
    )

  const release = (owner: string, executionIds: ReadonlyArray<string>) => sql`
    UPDATE workflow_executions SET owner = NULL
    WHERE execution_id = ANY(${executionIds}::text[]) AND owner = ${owner} AND finished_at IS NULL`

  const join = (runnerId: string) => sql`INSERT INTO workflow_runners (runner_id, beat) VALUES (${runnerId}, 0)`

  const beat = (runnerId: string): Effect.Effect<boolean, SqlError> =>
    Effect.map(
      sql`UPDATE workflow_runners SET beat = beat + 1 WHERE runner_id = ${runnerId} RETURNING 1`,
      (rows) => rows.length > 0
    )

  const runners: Effect.Effect<ReadonlyArray<Runner>, SqlError> = sql<Runner>`
    SELECT runner_id AS "runnerId", beat FROM workflow_runners ORDER BY runner_id`

  const bury = ({ beat, runnerId }: Runner): Effect.Effect<boolean, SqlError> =>
    Effect.map(
      sql`DELETE FROM workflow_runners WHERE runner_id = ${runnerId} AND beat = ${beat} RETURNING 1`,
      (rows) => rows.length > 0
    )

  const leave = (runnerId: string) => sql`DELETE FROM workflow_runners WHERE runner_id = ${runnerId}`

  const freeOrphans = (limit: number): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql`
        WITH orphans AS MATERIALIZED (
          SELECT e.execution_id FROM workflow_executions e
          WHERE e.owner IS NOT NULL AND e.finished_at IS NULL
            AND NOT EXISTS (SELECT FROM workflow_runners r WHERE r.runner_id = e.owner)
          LIMIT ${limit} FOR UPDATE OF e SKIP LOCKED
        )
        UPDATE workflow_executions e SET owner = NULL FROM orphans WHERE e.execution_id = orphans.execution_id
        RETURNING 1`,
      (rows) => rows.length
    )

  const clean = (before: DateTime.Utc, limit: number): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql`
        WITH old AS MATERIALIZED (
          SELECT execution_id FROM workflow_executions WHERE finished_at < ${timestamp(before)}
          ORDER BY finished_at, execution_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), steps AS (
          DELETE FROM workflow_steps s USING old WHERE s.execution_id = old.execution_id
        )
        DELETE FROM workflow_executions e USING old WHERE e.execution_id = old.execution_id RETURNING 1`,
      (rows) => rows.length
    )

  return {
    /** Runs an effect in one transaction of the service's client; `record` in it commits with it or not at all. */
    transaction: sql.withTransaction,
    /** Answers the ids that are new; the others exist already. */
    insert,
    /** Answers the keys (`stepKey`) of what was stored; the others were done before, or their run has another owner. */
    record,
    /** Takes up to `limit` executions that nobody owns and whose time has come, those that wait longest first. */
    claim,
    /** What the runner still owns of an execution that it had claimed; undefined when it does no longer. */
    reload,
    finish,
    /** Gives an execution up until a time, at which any runner may claim it. */
    sleep,
    /** Up to a thousand unfinished executions that the runner owns beside those that are named. */
    ownedBeside,
    /** Gives executions up at once, for any runner to claim. */
    release,
    join,
    /** Shows that the runner lives; false when others have taken it for dead, and its runs. */
    beat,
    runners,
    /** Takes a runner for dead unless its beat has risen meanwhile; answers whether it was this caller that did. */
    bury,
    leave,
    /** Frees up to `limit` executions whose owner is gone; answers how many. */
    freeOrphans,
    /** Deletes up to `limit` executions that finished before the given time, with their steps; answers how many. */
    clean
  }
})

export class ExecutionStore extends Context.Service<ExecutionStore, Effect.Success<typeof make>>()(
  "ballast/layers/sql/ExecutionStore"
) {
  static readonly layer = Layer.effect(ExecutionStore, make)
}
