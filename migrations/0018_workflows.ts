/**
 * Durable runs: an execution is owned by the runner (a process) that works on it, or by nobody, and then wakes at its
 * time.
 *
 * A step is stored once: the key is what decides between two runners that both believe to own a run. A runner is alive
 * as long as its `beat` rises. Finished executions keep no place in the narrow indexes that claims and rescues walk.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE workflow_runners (
      runner_id text COLLATE "C" PRIMARY KEY,
      beat bigint NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`
    CREATE TABLE workflow_executions (
      execution_id text COLLATE "C" PRIMARY KEY,
      workflow text COLLATE "C" NOT NULL,
      payload text NOT NULL,
      owner text COLLATE "C",
      wake_at timestamptz(3) NOT NULL,
      created_at timestamptz(3) NOT NULL,
      finished_at timestamptz(3)
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`
    CREATE INDEX workflow_executions_waiting ON workflow_executions (wake_at, execution_id)
    WHERE owner IS NULL AND finished_at IS NULL`
  yield* sql`
    CREATE INDEX workflow_executions_owned ON workflow_executions (owner)
    WHERE owner IS NOT NULL AND finished_at IS NULL`
  yield* sql`
    CREATE INDEX workflow_executions_finished ON workflow_executions (finished_at, execution_id)
    WHERE finished_at IS NOT NULL`
  yield* sql`
    CREATE TABLE workflow_steps (
      execution_id text COLLATE "C" NOT NULL,
      step text COLLATE "C" NOT NULL,
      result text NOT NULL,
      PRIMARY KEY (execution_id, step)
    )`
})
