/** Durable runs of operations: messages of effect/cluster, and the steps that they did. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

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
      finished_at timestamptz(3),
      version integer NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`
  // What is finished has no place in the narrow indexes that claims and rescues walk.
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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE workflow_messages IS 'Messages to runs. A run is the message ''run'' to an entity of its own.';
      COMMENT ON COLUMN workflow_messages.request_id IS 'Id of the message.';
      COMMENT ON COLUMN workflow_messages.key IS 'What the message is, so that it is stored once.';
      COMMENT ON COLUMN workflow_messages.shard IS 'Shard of the entity.';
      COMMENT ON COLUMN workflow_messages.entity_type IS 'Workflow.';
      COMMENT ON COLUMN workflow_messages.entity_id IS 'Run.';
      COMMENT ON COLUMN workflow_messages.tag IS 'run, or the signal that is sent to it.';
      COMMENT ON COLUMN workflow_messages.envelope IS 'Message as JSON.';
      COMMENT ON COLUMN workflow_messages.created_at IS 'When it was stored.';
      COMMENT ON COLUMN workflow_messages.wake_at IS 'When it is due.';
      COMMENT ON COLUMN workflow_messages.is_claimed IS 'Whether a process works on it.';
      COMMENT ON COLUMN workflow_messages.generation IS 'Number of the claim, which rises with each.';
      COMMENT ON COLUMN workflow_messages.tries IS 'Claims in a row that brought no step.';
      COMMENT ON COLUMN workflow_messages.steps_seen IS 'Steps that were stored at the last claim.';
      COMMENT ON COLUMN workflow_messages.reply_id IS 'Id of the reply.';
      COMMENT ON COLUMN workflow_messages.reply IS 'Reply as JSON. Null: not answered.';
      COMMENT ON COLUMN workflow_messages.suspended_at IS 'Since when it waits for an operator. Null: it does not.';
      COMMENT ON COLUMN workflow_messages.cause IS 'Why it waits for an operator.';
      COMMENT ON COLUMN workflow_messages.finished_at IS 'When it ended.';
      COMMENT ON COLUMN workflow_messages.version IS 'Version of the workflow under which the run was begun.';
    END $$`

  yield* sql`
    CREATE TABLE workflow_steps (
      execution_id text COLLATE "C" NOT NULL,
      step text COLLATE "C" NOT NULL,
      result text NOT NULL,
      PRIMARY KEY (execution_id, step)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE workflow_steps IS
        'Steps that runs did. A step is stored once: the key decides between two processes.';
      COMMENT ON COLUMN workflow_steps.execution_id IS 'Run.';
      COMMENT ON COLUMN workflow_steps.step IS 'Name of the step, and which try of it.';
      COMMENT ON COLUMN workflow_steps.result IS 'Result as JSON.';
    END $$`
})
