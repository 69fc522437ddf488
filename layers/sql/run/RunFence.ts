/**
 * Which run a statement belongs to, and which hold on it the process has. Each claim of a run raises its generation, so
 * that a process that has lost a run without knowing it changes nothing any more.
 */
import { Context, Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export interface Fence {
  readonly requestId: string
  readonly executionId: string
  readonly generation: bigint
}

/** Set around what a step of a run does; nothing outside of runs. */
export const RunFence = Context.Reference<Fence | undefined>("ballast/layers/sql/run/RunFence", {
  defaultValue: () => undefined
})

/** Another process has the run by now. The run goes on there, so this is no fault of the step. */
export class RunMoved extends Data.TaggedError("RunMoved")<{ readonly executionId: string }> {
  override get message() {
    return `Run ${this.executionId} was claimed by another process; what this one was about to store is left out`
  }
}

/**
 * Fences a transaction at its begin: dies when the run was claimed anew, and keeps it from being claimed until the end.
 */
export const holdRun = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError> =>
  Effect.flatMap(RunFence, (fence) =>
    fence === undefined
      ? Effect.void
      : Effect.flatMap(
          sql`SELECT 1 FROM workflow_messages WHERE request_id = ${fence.requestId}::text::bigint
            AND generation = ${String(fence.generation)}::text::bigint FOR SHARE`,
          (rows) => (rows.length === 0 ? Effect.die(new RunMoved(fence)) : Effect.void)
        )
  )
