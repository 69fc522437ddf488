/**
 * Runs become messages of effect/cluster: a run is the message `run` to an entity of its own. Steps stay as they are
 * stored.
 *
 * What was in flight is handed over: it waits for whoever holds its shard, and is replayed over its steps. The runners
 * of before find their tables gone, so none of them works beside the new ones.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const shards = 64
const page = 1_000

/** The shard of an entity, as effect/cluster computes it. */
export const shardOf = (entityId: string): string => {
  let hash = 5_381
  for (let index = entityId.length; index > 0; index--) hash = (hash * 33) ^ entityId.charCodeAt(index - 1)
  hash = (hash & 0xbfffffff) | ((hash >>> 1) & 0x40000000)
  return `default:${Math.abs(hash % shards) + 1}`
}

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE workflow_messages (
      request_id bigint PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      shard text COLLATE "C" NOT NULL,
      entity_type text COLLATE "C" NOT NULL,
      entity_id text COLLATE "C" NOT NULL,
      tag text COLLATE "C" NOT NULL,
      envelope text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      wake_at timestamptz(3) NOT NULL,
      is_claimed boolean NOT NULL DEFAULT false,
      generation bigint NOT NULL DEFAULT 0,
      tries integer NOT NULL DEFAULT 0,
      steps_seen integer NOT NULL DEFAULT 0,
      reply_id bigint,
      reply text,
      suspended_at timestamptz(3),
      cause text,
      finished_at timestamptz(3)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`
    INSERT INTO workflow_messages (request_id, key, shard, entity_type, entity_id, tag, envelope, created_at, wake_at,
      generation, finished_at)
    SELECT row_number() OVER (ORDER BY created_at, execution_id),
    'Workflow/' || workflow || '/' || execution_id || '/run/', '',
      'Workflow/' || workflow, execution_id, 'run', '{"payload":' || payload || ',"headers":{}}', created_at, wake_at,
      1, finished_at
    FROM workflow_executions`
  for (let moved = page; moved === page;) {
    const rows = yield* sql<{ readonly entity_id: string }>`
      SELECT entity_id FROM workflow_messages WHERE shard = '' AND finished_at IS NULL LIMIT ${page}`
    moved = rows.length
    if (moved === 0) break
    yield* sql`
      UPDATE workflow_messages m SET shard = n.shard
      FROM unnest(${rows.map((row) => row.entity_id)}::text[], ${rows.map((row) => shardOf(row.entity_id))}::text[])
        AS n (entity_id, shard)
      WHERE m.entity_id = n.entity_id`
  }
  yield* sql`
    CREATE INDEX workflow_messages_waiting ON workflow_messages (wake_at, request_id)
    WHERE tag = 'run' AND finished_at IS NULL AND NOT is_claimed AND suspended_at IS NULL`
  yield* sql`
    CREATE INDEX workflow_messages_signals ON workflow_messages (wake_at, request_id)
    WHERE tag <> 'run' AND finished_at IS NULL AND NOT is_claimed`
  yield* sql`
    CREATE INDEX workflow_messages_claimed ON workflow_messages (shard) WHERE is_claimed AND finished_at IS NULL`
  yield* sql`
    CREATE INDEX workflow_messages_suspended ON workflow_messages (suspended_at, request_id)
    WHERE suspended_at IS NOT NULL AND finished_at IS NULL`
  yield* sql`
    CREATE INDEX workflow_messages_finished ON workflow_messages (finished_at, request_id)
    WHERE tag = 'run' AND finished_at IS NOT NULL`
  yield* sql`CREATE INDEX workflow_messages_of_entity ON workflow_messages (entity_id) WHERE tag <> 'run'`
  yield* sql`DROP TABLE workflow_executions`
  yield* sql`DROP TABLE workflow_runners`
})
