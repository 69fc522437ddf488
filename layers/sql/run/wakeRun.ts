/** Lets a run that waits for a time go on now: its timers end, and it is claimed at once. */
import type { DateTime } from "effect"
import type { SqlClient } from "effect/sql"
import { timestamp } from "#layers/sql/rows.ts"

/** The step under which the end of a durable timer is stored, as `{"value": <Unix milliseconds>}`. */
export const timerStep = (name: string): string => `${name}/timer`

/** The time of a run that was woken: whoever begins it next ends its timers. It stays until they are ended. */
export const woken = "-infinity"

/** A claim of a run that was woken. */
interface WokenClaim {
  readonly executionId: string
  readonly generation: bigint
}

/** Ends the timers of a run whose time has not come, once: the run is not woken any more. */
export const endTimers = (sql: SqlClient.SqlClient, { executionId, generation }: WokenClaim, at: DateTime.Utc) => sql`
  WITH begun AS (
    UPDATE workflow_messages SET wake_at = ${timestamp(at)}
    WHERE entity_id = ${executionId} AND tag = 'run' AND generation = ${String(generation)}::text::bigint
      AND wake_at = ${woken}
    RETURNING entity_id
  )
  UPDATE workflow_steps s SET result = ${JSON.stringify({ value: at.epochMilliseconds })}
  FROM begun
  WHERE s.execution_id = begun.entity_id
    AND CASE WHEN s.step LIKE ${timerStep("%")} THEN (s.result::jsonb ->> 'value')::numeric END
      > ${String(at.epochMilliseconds)}::text::numeric`

/** One that is at work right now begins to wait, at most, and is claimed again. */
export const wakeRun = (sql: SqlClient.SqlClient, executionId: string) => sql`
  UPDATE workflow_messages SET wake_at = ${woken}
  WHERE entity_id = ${executionId} AND tag = 'run' AND finished_at IS NULL AND suspended_at IS NULL`
