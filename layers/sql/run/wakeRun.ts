/** Lets a run that waits for a time go on now: its timers end, and it is claimed at once. */
import type { DateTime } from "effect"
import type { SqlClient } from "effect/sql"

/** The step under which the end of a durable timer is stored, as `{"value": <Unix milliseconds>}`. */
export const timerStep = (name: string): string => `${name}/timer`

/** The time of a run that was woken: whoever claims it next ends its timers. */
export const woken = "-infinity"

/** Ends the timers of a run whose time has not come. */
export const endTimers = (sql: SqlClient.SqlClient, executionId: string, at: DateTime.Utc) => sql`
  UPDATE workflow_steps SET result = ${JSON.stringify({ value: at.epochMilliseconds })}
  WHERE execution_id = ${executionId}
    AND CASE WHEN step LIKE ${timerStep("%")} THEN (result::jsonb ->> 'value')::numeric END
      > ${String(at.epochMilliseconds)}::text::numeric`

/** One that is at work right now begins to wait, at most, and is claimed again. */
export const wakeRun = (sql: SqlClient.SqlClient, executionId: string) => sql`
  UPDATE workflow_messages SET wake_at = ${woken}
  WHERE entity_id = ${executionId} AND tag = 'run' AND finished_at IS NULL AND suspended_at IS NULL`
