/**
 * Events of operations. They are numbered by `operations.last_sequence`: the statement that adds an event first
 * updates the operation, so the row's lock puts concurrent writers in line and no number is used twice.
 */
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { DateTime } from "effect"
import type { OperationId } from "#domain/Ids.ts"
import { isTerminal, type OperationState, sourcesOf } from "#domain/operation/Operation.ts"
import { timestamp, timestampOrNull } from "#layers/sql/rows.ts"
import { storableJson, storableText } from "#layers/sql/storable.ts"

/** The kind of event that a change of state leaves; its payload is `{state, error}`. */
export const stateEvent = "state"

export interface StateChange {
  readonly operationId: OperationId
  readonly to: OperationState
  readonly at: DateTime.Utc
  readonly error: string | null
}

/**
 * Enters a state when the lifecycle allows it from the present one, and appends the event. Answers one row with the
 * portfolio when it did, none when not.
 */
export const changeState = (sql: SqlClient.SqlClient, { at, error, operationId, to }: StateChange) => {
  const storedError = error === null ? null : storableText(error)
  return sql<{ readonly portfolio_id: string }>`
    WITH changed AS (
      UPDATE operations SET state = ${to}, updated_at = ${timestamp(at)},
        finished_at = ${timestampOrNull(isTerminal(to) ? at : null)}::timestamptz, error = ${storedError},
        last_sequence = last_sequence + 1
      WHERE operation_id = ${operationId} AND state = ANY(${sourcesOf(to)}::text[])
      RETURNING operation_id, portfolio_id, last_sequence
    ), event AS (
      INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
      SELECT operation_id, last_sequence, ${timestamp(at)}, ${stateEvent}, ${storableJson({ state: to, error: storedError })}::jsonb
      FROM changed
    )
    SELECT portfolio_id FROM changed`
}

/**
 * Statement part that ends a `WITH inserted AS (INSERT INTO operations ... RETURNING operation_id, submitted_at,
 * trigger)`: the first event of each new operation.
 */
export const firstEvents = (sql: SqlClient.SqlClient): Fragment =>
  sql.literal(`
    INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
    SELECT operation_id, 1, submitted_at, '${stateEvent}', jsonb_build_object('state', 'accepted', 'trigger', trigger, 'error', null)
    FROM inserted`)
