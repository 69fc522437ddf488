/**
 * Events of operations. They are numbered by `operations.last_sequence`: the statement that adds an event first
 * updates the operation, so the row's lock puts concurrent writers in line and no number is used twice.
 */
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { Effect, Schema } from "effect"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { type OperationReport, OperationResult, reasonOf } from "#domain/operation/OperationResult.ts"
import { isTerminal, type OperationState, sourcesOf, stateEvent } from "#domain/operation/Operation.ts"
import type { StateChange } from "#domain/operation/OperationStore.ts"
import { timestamp } from "#layers/sql/rows.ts"
import { type Fence, RunFence } from "#layers/sql/run/RunFence.ts"
import { storableJson, storableText } from "#layers/sql/storable.ts"

/** A change of state with all that the database needs of it. */
export interface ReportedChange extends StateChange {
  /** Report of a terminal state: what the operation did. Left out when that is not known. */
  readonly ended?: OperationReport | undefined
  /** The run that it belongs to; one that another process has by now changes nothing. */
  readonly fence?: Fence | undefined
}

const encodeResult = Schema.encodeSync(Schema.toCodecJson(OperationResult))

/** The outcome stands in the event of a terminal state alone. */
const eventOf = (state: OperationState, error: string | null, ended: OperationReport | undefined) =>
  ended === undefined ? { state, error } : { state, error, outcome: ended.outcome }

/**
 * Enters each state that the lifecycle allows from the present one, and appends the events. Answers a row with the
 * portfolio for each that did. An operation may occur once.
 */
export const changeStates = (sql: SqlClient.SqlClient, changes: ReadonlyArray<ReportedChange>) => {
  // The driver cannot send an array of nulls alone, so an empty text stands for none.
  const errors = changes.map(({ error }) => (error === null ? "" : storableText(error)))
  return sql<{ readonly operation_id: OperationId; readonly portfolio_id: PortfolioId }>`
    WITH wanted AS (
      SELECT * FROM unnest(${changes.map(({ operationId }) => operationId)}::text[],
        ${changes.map(({ to }) => to)}::text[],
        ${changes.map(({ to }) => sourcesOf(to).join(" "))}::text[],
        ${changes.map(({ at }) => timestamp(at))}::timestamptz[],
        ${changes.map(({ to }) => isTerminal(to))}::boolean[], ${errors}::text[],
        ${changes.map(({ ended, to }, index) => storableJson(eventOf(to, errors[index] || null, ended)))}::text[],
        ${changes.map(({ ended }) => ended?.outcome ?? "")}::text[],
        ${changes.map(({ ended }) => storableText((ended && reasonOf(ended)) ?? ""))}::text[],
        ${changes.map(({ ended }) => (ended === undefined ? "" : storableJson(encodeResult(ended.result))))}::text[],
        ${changes.map(({ fence }) => fence?.requestId ?? "")}::text[],
        ${changes.map(({ fence }) => String(fence?.generation ?? ""))}::text[])
        AS w (operation_id, state, sources, at, is_terminal, error, payload, outcome, reason, result, run, generation)
    ), changed AS (
      UPDATE operations o SET state = w.state, updated_at = w.at, finished_at = CASE WHEN w.is_terminal THEN w.at END,
        error = nullif(w.error, ''), outcome = nullif(w.outcome, ''),
        reason = nullif(w.reason, ''), result = nullif(w.result, '')::jsonb,
        resumed_at = CASE WHEN o.state = 'awaiting_user' THEN w.at ELSE o.resumed_at END,
        last_sequence = o.last_sequence + 1
      FROM wanted w
      WHERE o.operation_id = w.operation_id AND o.state = ANY(string_to_array(w.sources, ' '))
        AND (w.run = '' OR EXISTS (SELECT FROM workflow_messages m
          WHERE m.request_id = nullif(w.run, '')::bigint AND m.generation = nullif(w.generation, '')::bigint))
      RETURNING o.operation_id, o.portfolio_id, o.last_sequence, w.at, w.payload
    ), event AS (
      INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
      SELECT operation_id, last_sequence, at, ${stateEvent}, payload::jsonb FROM changed
    )
    SELECT operation_id, portfolio_id FROM changed`
}

/** `changeStates` for one operation: one row when it changed, none when not. */
export const changeState = (sql: SqlClient.SqlClient, change: ReportedChange) =>
  Effect.flatMap(RunFence, (fence) => changeStates(sql, [{ ...change, fence }]))

/**
 * Statement part that ends a `WITH inserted AS (INSERT INTO operations ... RETURNING operation_id, submitted_at,
 * trigger)`: the first event of each new operation.
 */
export const firstEvents = (sql: SqlClient.SqlClient): Fragment =>
  sql.literal(`
    INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
    SELECT operation_id, 1, submitted_at, '${stateEvent}', jsonb_build_object('state', 'accepted', 'trigger', trigger,
      'error', null)
    FROM inserted`)
