/**
 * The messages of runs in PostgreSQL. Statements take many rows at once, because that is what makes a run cheap.
 */
import { type DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { timestamp } from "#layers/sql/rows.ts"
import type { ClaimedMessage, ClaimScope, Known, MessageRows, NewMessage, Reply } from "#layers/sql/run/MessageRows.ts"
import { woken } from "#layers/sql/run/wakeRun.ts"

/** `infinity` of PostgreSQL: waits for a signal alone. */
const never = "infinity"

const columns = `m.request_id::text AS "requestId", m.shard, m.entity_type AS "entityType", m.entity_id AS "entityId",
  m.tag, m.envelope, m.generation, m.tries,
  EXISTS (SELECT FROM workflow_messages s WHERE s.entity_id = m.entity_id AND s.tag <> 'run') AS "hasSignals"`

export const makeMessageRows = (sql: SqlClient.SqlClient): MessageRows => {
  const insert = (messages: ReadonlyArray<NewMessage>): Effect.Effect<ReadonlySet<string>, SqlError> =>
    Effect.map(
      sql<{ readonly id: string }>`
        INSERT INTO workflow_messages (request_id, key, shard, entity_type, entity_id, tag, version, envelope,
          created_at, wake_at)
        SELECT request_id::bigint, key, shard, entity_type, entity_id, tag, version, envelope, at, at
        FROM unnest(${messages.map((row) => row.requestId)}::text[], ${messages.map((row) => row.key)}::text[],
          ${messages.map((row) => row.shard)}::text[], ${messages.map((row) => row.entityType)}::text[],
          ${messages.map((row) => row.entityId)}::text[], ${messages.map((row) => row.tag)}::text[],
          ${messages.map((row) => row.version)}::int[], ${messages.map((row) => row.envelope)}::text[],
          ${messages.map((row) => timestamp(row.at))}::timestamptz[])
          AS n (request_id, key, shard, entity_type, entity_id, tag, version, envelope, at)
        ON CONFLICT (key) DO NOTHING RETURNING request_id::text AS id`,
      (rows) => new Set(rows.map((row) => row.id))
    )

  const claimRuns = ({ at, supported, shards }: ClaimScope, limit: number) => sql<ClaimedMessage>`
    WITH due AS MATERIALIZED (
      SELECT m.request_id, m.wake_at = ${woken} AS is_woken,
        (SELECT count(*)::int FROM workflow_steps s WHERE s.execution_id = m.entity_id) AS steps
      FROM workflow_messages m
      WHERE m.tag = 'run' AND m.finished_at IS NULL AND NOT m.is_claimed AND m.suspended_at IS NULL
        AND m.wake_at <= ${timestamp(at)} AND m.shard = ANY(${shards}::text[])
        AND m.entity_type || '@' || m.version = ANY(${supported}::text[])
      ORDER BY m.wake_at, m.request_id LIMIT ${limit} FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE workflow_messages m SET is_claimed = true, generation = m.generation + 1, reply_id = NULL, reply = NULL,
      tries = CASE WHEN m.steps_seen = due.steps THEN m.tries + 1 ELSE 1 END, steps_seen = due.steps
    FROM due WHERE m.request_id = due.request_id
    RETURNING ${sql.literal(columns)}, due.is_woken AS "isWoken"`

  const claimSignals = ({ at, entityTypes, shards }: ClaimScope, limit: number) => sql<ClaimedMessage>`
    WITH due AS MATERIALIZED (
      SELECT request_id FROM workflow_messages
      WHERE tag <> 'run' AND finished_at IS NULL AND NOT is_claimed
        AND wake_at <= ${timestamp(at)} AND shard = ANY(${shards}::text[]) AND entity_type = ANY(${entityTypes}::text[])
      ORDER BY wake_at, request_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE workflow_messages m SET is_claimed = true, generation = m.generation + 1
    FROM due WHERE m.request_id = due.request_id
    RETURNING ${sql.literal(columns)}, false AS "isWoken"`

  const leftToOthers = ({ at, supported, entityTypes }: Omit<ClaimScope, "shards">): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM workflow_messages
        WHERE tag = 'run' AND finished_at IS NULL AND NOT is_claimed AND suspended_at IS NULL
        AND wake_at <= ${timestamp(at)}
          AND entity_type = ANY(${entityTypes}::text[]) AND entity_type || '@' || version <> ALL(${supported}::text[])`,
      ([row]) => row!.count
    )

  const reply = (replies: ReadonlyArray<Reply>) => {
    const isTransient = replies.map(({ end }) => end._tag === "Waiting" && end.isTransient)
    const wakeAt = replies.map(({ at, end }) => {
      if (end._tag === "Waiting") return end.until === null ? never : timestamp(end.until).toISOString()
      return timestamp(at).toISOString()
    })
    return sql`
      UPDATE workflow_messages m SET is_claimed = false, reply_id = r.reply_id::bigint, reply = r.exit,
        wake_at = CASE WHEN m.wake_at = ${woken} THEN m.wake_at ELSE r.wake_at END,
        tries = CASE WHEN r.is_passing THEN greatest(m.tries - 1, 0) ELSE m.tries END,
        suspended_at = CASE WHEN r.is_suspended THEN r.at END, cause = nullif(r.cause, ''),
        finished_at = CASE WHEN r.is_finished THEN r.at END
      FROM unnest(${replies.map((row) => row.requestId)}::text[],
        ${replies.map((row) => String(row.generation))}::text[]::bigint[],
        ${replies.map((row) => row.replyId)}::text[], ${replies.map((row) => row.exit)}::text[],
        ${replies.map((row) => timestamp(row.at))}::timestamptz[], ${wakeAt}::text[]::timestamptz[],
        ${isTransient}::boolean[],
        ${replies.map(({ end }) => end._tag === "Suspended")}::boolean[],
        ${replies.map(({ end }) => end._tag === "Finished")}::boolean[],
        ${replies.map(({ end }) => (end._tag === "Suspended" ? end.cause : ""))}::text[])
        AS r (request_id, generation, reply_id, exit, at, wake_at, is_passing, is_suspended, is_finished, cause)
      WHERE m.request_id = r.request_id::bigint AND m.generation = r.generation AND m.finished_at IS NULL`
  }

  const byKeys = (keys: ReadonlyArray<string>) => sql<Known & { readonly key: string }>`
    SELECT key, request_id::text AS "requestId", reply_id::text AS "replyId", reply FROM workflow_messages
    WHERE key = ANY(${keys}::text[])`

  const replies = (requestIds: ReadonlyArray<string>) => sql<Known>`
    SELECT request_id::text AS "requestId", reply_id::text AS "replyId", reply FROM workflow_messages
    WHERE request_id = ANY(${requestIds}::text[]::bigint[]) AND reply_id IS NOT NULL`

  const waiting = (requestIds: ReadonlyArray<string>) => sql<ClaimedMessage>`
    SELECT ${sql.literal(columns)}, false AS "isWoken" FROM workflow_messages m
    WHERE m.request_id = ANY(${requestIds}::text[]::bigint[]) AND m.finished_at IS NULL AND m.reply_id IS NULL
    ORDER BY m.request_id`

  const wake = (requestId: string, expectedReplyId: string | null, at: DateTime.Utc) => sql`
    UPDATE workflow_messages SET is_claimed = false, reply_id = NULL, reply = NULL, finished_at = NULL,
      wake_at = CASE WHEN wake_at = ${woken} THEN wake_at ELSE ${timestamp(at)} END
    WHERE request_id = ${requestId}::text::bigint AND suspended_at IS NULL
      AND (${expectedReplyId ?? ""} = '' OR reply_id = nullif(${expectedReplyId ?? ""}, '')::bigint)`

  const giveBack = (claims: ReadonlyArray<ClaimedMessage>) => sql`
    UPDATE workflow_messages m SET is_claimed = false, tries = greatest(m.tries - 1, 0)
    FROM unnest(${claims.map((row) => row.requestId)}::text[], ${claims.map((row) => String(row.generation))}::text[])
      AS c (request_id, generation)
    WHERE m.request_id = c.request_id::bigint AND m.generation = c.generation::bigint
      AND m.is_claimed AND m.finished_at IS NULL`

  const excuse = (requestIds: ReadonlyArray<string>) => sql`
    UPDATE workflow_messages SET tries = greatest(tries - 1, 0)
    WHERE request_id = ANY(${requestIds}::text[]::bigint[]) AND finished_at IS NULL`

  const freeBeside = (
    shards: ReadonlyArray<string>,
    known: ReadonlyArray<string>,
    isExcused: boolean
  ): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql`
        UPDATE workflow_messages SET is_claimed = false, tries = greatest(tries - ${isExcused ? 1 : 0}::int, 0)
        WHERE is_claimed AND finished_at IS NULL AND shard = ANY(${shards}::text[])
          AND request_id <> ALL(${known}::text[]::bigint[]) RETURNING 1`,
      (rows) => rows.length
    )

  const removeEntity = (entityType: string, entityId: string) => sql`
    DELETE FROM workflow_messages WHERE entity_type = ${entityType} AND entity_id = ${entityId}`

  const clean = (before: DateTime.Utc, limit: number): Effect.Effect<number, SqlError> =>
    Effect.map(
      sql`
        WITH old AS MATERIALIZED (
          SELECT request_id, entity_id FROM workflow_messages WHERE tag = 'run' AND finished_at < ${timestamp(before)}
          ORDER BY finished_at, request_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), steps AS (
          DELETE FROM workflow_steps s USING old WHERE s.execution_id = old.entity_id
        ), signals AS (
          DELETE FROM workflow_messages m USING old WHERE m.entity_id = old.entity_id AND m.tag <> 'run'
        )
        DELETE FROM workflow_messages m USING old WHERE m.request_id = old.request_id RETURNING 1`,
      (rows) => rows.length
    )

  return {
    insert,
    claimRuns,
    leftToOthers,
    claimSignals,
    reply,
    byKeys,
    replies,
    waiting,
    wake,
    giveBack,
    excuse,
    freeBeside,
    removeEntity,
    clean
  }
}
