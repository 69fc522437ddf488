/**
 * Workflows that wait: one row each, with the price ranges within which nothing changes for them, and the keys of ticks
 * that were done. Strategies may carry triggers, and an operation says which one started it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE strategies ADD COLUMN triggers jsonb`
  yield* sql`ALTER TABLE operations ADD COLUMN fired_by jsonb`
  yield* sql`
    CREATE TABLE workflow_monitors (
      workflow_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      title text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('scheduled', 'triggered')),
      trigger jsonb,
      every_ms bigint,
      is_repeated boolean NOT NULL,
      is_of_strategy boolean NOT NULL,
      workflow_status text NOT NULL CHECK (workflow_status IN ('active', 'pending_approval')),
      status text NOT NULL CHECK (status IN ('waiting', 'ready', 'completed', 'failed')),
      wait text CHECK (wait IN ('time', 'execution', 'trigger')),
      next_check_at timestamptz(3),
      last_tick_at timestamptz(3),
      is_armed boolean NOT NULL,
      event jsonb,
      operation_id text COLLATE "C",
      execution_request_id text,
      linked_operation_ids text[] NOT NULL,
      failures integer NOT NULL,
      ready_at timestamptz(3),
      started_at timestamptz(3),
      retry_after timestamptz(3),
      waiting_until timestamptz(3),
      completed_at timestamptz(3),
      failed_at timestamptz(3),
      last_run_at timestamptz(3),
      revision bigint NOT NULL,
      claimed_until timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      CHECK ((status = 'waiting') = (wait IS NOT NULL)),
      CHECK ((status IN ('waiting', 'ready')) = (next_check_at IS NOT NULL)),
      CHECK ((kind = 'triggered') = (trigger IS NOT NULL)),
      CHECK ((wait IS NOT DISTINCT FROM 'execution') = (operation_id IS NOT NULL))
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX workflow_monitors_due ON workflow_monitors (next_check_at, workflow_id)
    WHERE workflow_status = 'active' AND next_check_at IS NOT NULL`
  yield* sql`CREATE INDEX workflow_monitors_of_portfolio ON workflow_monitors (portfolio_id)`
  yield* sql`
    CREATE INDEX workflow_monitors_awaiting ON workflow_monitors (operation_id) WHERE operation_id IS NOT NULL`
  yield* sql`CREATE INDEX workflow_monitors_failed ON workflow_monitors (workflow_id) WHERE status = 'failed'`
  yield* sql`
    CREATE TABLE monitor_watches (
      workflow_id text COLLATE "C" NOT NULL REFERENCES workflow_monitors ON DELETE CASCADE,
      asset_id text COLLATE "C" NOT NULL,
      low numeric(48, 18),
      high numeric(48, 18),
      PRIMARY KEY (workflow_id, asset_id)
    )`
  yield* sql`CREATE INDEX monitor_watches_low ON monitor_watches (asset_id, low) WHERE low IS NOT NULL`
  yield* sql`CREATE INDEX monitor_watches_high ON monitor_watches (asset_id, high) WHERE high IS NOT NULL`
  yield* sql`
    CREATE TABLE monitor_ticks (
      request_id text COLLATE "C" PRIMARY KEY,
      workflow_id text COLLATE "C" NOT NULL,
      fingerprint text NOT NULL,
      at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX monitor_ticks_old ON monitor_ticks (at)`
  yield* sql`
    CREATE TABLE trigger_changes (
      strategy_id text COLLATE "C" PRIMARY KEY REFERENCES strategies,
      after_portfolio_id text COLLATE "C" NOT NULL
    )`
})
