/** Workflows that wait for a time, a price or the end of an operation. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
      CHECK ((NOT (wait IS DISTINCT FROM 'execution')) = (operation_id IS NOT NULL))
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX workflow_monitors_due ON workflow_monitors (next_check_at, workflow_id)
    WHERE workflow_status = 'active' AND next_check_at IS NOT NULL`
  yield* sql`CREATE INDEX workflow_monitors_of_portfolio ON workflow_monitors (portfolio_id)`
  yield* sql`CREATE INDEX workflow_monitors_awaiting ON workflow_monitors (operation_id) WHERE operation_id IS NOT NULL`
  yield* sql`CREATE INDEX workflow_monitors_failed ON workflow_monitors (workflow_id) WHERE status = 'failed'`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE workflow_monitors IS 'Workflows that wait, each with what it waits for.';
      COMMENT ON COLUMN workflow_monitors.workflow_id IS
        'Id: wf_ and a ULID; of a strategy''s monitor that of the portfolio.';
      COMMENT ON COLUMN workflow_monitors.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN workflow_monitors.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN workflow_monitors.title IS 'Name for people.';
      COMMENT ON COLUMN workflow_monitors.kind IS 'Whether a schedule or a trigger makes it ready.';
      COMMENT ON COLUMN workflow_monitors.trigger IS 'What makes it ready. Null: a schedule does.';
      COMMENT ON COLUMN workflow_monitors.every_ms IS 'Interval of the schedule, milliseconds.';
      COMMENT ON COLUMN workflow_monitors.is_repeated IS 'Whether it goes on after it was executed.';
      COMMENT ON COLUMN workflow_monitors.is_of_strategy IS 'Whether it is of the strategy''s triggers.';
      COMMENT ON COLUMN workflow_monitors.workflow_status IS 'Whether it may act.';
      COMMENT ON COLUMN workflow_monitors.status IS 'Where it stands.';
      COMMENT ON COLUMN workflow_monitors.wait IS 'What it waits for.';
      COMMENT ON COLUMN workflow_monitors.next_check_at IS 'When it is checked next.';
      COMMENT ON COLUMN workflow_monitors.last_tick_at IS 'When it was last checked.';
      COMMENT ON COLUMN workflow_monitors.is_armed IS
        'Whether its trigger may make it ready: its condition was false since it last did.';
      COMMENT ON COLUMN workflow_monitors.event IS 'What made it ready.';
      COMMENT ON COLUMN workflow_monitors.operation_id IS 'Operation whose end it waits for.';
      COMMENT ON COLUMN workflow_monitors.execution_request_id IS 'Key of the tick that started that operation.';
      COMMENT ON COLUMN workflow_monitors.linked_operation_ids IS 'Operations that it started.';
      COMMENT ON COLUMN workflow_monitors.failures IS 'Failures in a row.';
      COMMENT ON COLUMN workflow_monitors.ready_at IS 'When it became ready.';
      COMMENT ON COLUMN workflow_monitors.started_at IS 'When its execution began.';
      COMMENT ON COLUMN workflow_monitors.retry_after IS 'When it is tried again.';
      COMMENT ON COLUMN workflow_monitors.waiting_until IS 'Time that it waits for.';
      COMMENT ON COLUMN workflow_monitors.completed_at IS 'When it was completed.';
      COMMENT ON COLUMN workflow_monitors.failed_at IS 'When it failed.';
      COMMENT ON COLUMN workflow_monitors.last_run_at IS 'When it was last executed.';
      COMMENT ON COLUMN workflow_monitors.revision IS 'Number that rises with each change.';
      COMMENT ON COLUMN workflow_monitors.claimed_until IS 'Until when a process works on it.';
      COMMENT ON COLUMN workflow_monitors.created_at IS 'When the row was made.';
    END $$`

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
    DO $$ BEGIN
      COMMENT ON TABLE monitor_watches IS 'Range of a price within which nothing changes for a monitor.';
      COMMENT ON COLUMN monitor_watches.workflow_id IS 'Monitor.';
      COMMENT ON COLUMN monitor_watches.asset_id IS 'Asset, CAIP-19.';
      COMMENT ON COLUMN monitor_watches.low IS 'Lower end, USD. Null: none.';
      COMMENT ON COLUMN monitor_watches.high IS 'Upper end, USD. Null: none.';
    END $$`

  yield* sql`
    CREATE TABLE monitor_ticks (
      request_id text COLLATE "C" PRIMARY KEY,
      workflow_id text COLLATE "C" NOT NULL,
      fingerprint text NOT NULL,
      at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX monitor_ticks_old ON monitor_ticks (at)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE monitor_ticks IS 'Keys of ticks that were done.';
      COMMENT ON COLUMN monitor_ticks.request_id IS 'Key of the tick.';
      COMMENT ON COLUMN monitor_ticks.workflow_id IS 'Monitor.';
      COMMENT ON COLUMN monitor_ticks.fingerprint IS 'Hash of the tick: another one under the same key is refused.';
      COMMENT ON COLUMN monitor_ticks.at IS 'When it was done.';
    END $$`

  yield* sql`
    CREATE TABLE trigger_changes (
      strategy_id text COLLATE "C" PRIMARY KEY REFERENCES strategies ON DELETE CASCADE,
      after_portfolio_id text COLLATE "C" NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE trigger_changes IS
        'Changes of triggers that have not reached every portfolio yet; they are applied in batches.';
      COMMENT ON COLUMN trigger_changes.strategy_id IS 'Strategy.';
      COMMENT ON COLUMN trigger_changes.after_portfolio_id IS 'Portfolio up to which the change is applied.';
    END $$`
  // The ids of a portfolio and of its monitor are one, so that it can never have two monitors of its strategy. A tenant
  // that mirrors the strategy has not agreed to more runs than its schedule, so its portfolios have none.
  yield* sql`
    CREATE FUNCTION follow_triggers(portfolio_ids text[], at timestamptz) RETURNS void LANGUAGE sql AS $$
      DELETE FROM workflow_monitors m USING portfolios p, strategies s
      WHERE p.portfolio_id = ANY(portfolio_ids) AND s.strategy_id = p.strategy_id
        AND m.workflow_id = 'wf_' || substr(p.portfolio_id, 4) AND m.is_of_strategy
        AND (s.triggers IS NULL OR p.archived_at IS NOT NULL);
      INSERT INTO workflow_monitors AS m (workflow_id, tenant_id, portfolio_id, title, kind, trigger, is_repeated,
        is_of_strategy, workflow_status, status, wait, next_check_at, is_armed, linked_operation_ids, failures,
        revision, created_at)
      SELECT 'wf_' || substr(p.portfolio_id, 4), p.tenant_id, p.portfolio_id, 'Drift of ' || s.name, 'triggered',
        jsonb_build_object('kind', 'portfolio_drift_from_target', 'bands', s.triggers -> 'drift'), true, true, 'active',
        'waiting', 'trigger', at, true, '{}', 0, 1, at
      FROM portfolios p JOIN strategies s ON s.strategy_id = p.strategy_id AND s.tenant_id = p.tenant_id
      WHERE p.portfolio_id = ANY(portfolio_ids) AND p.archived_at IS NULL AND s.triggers IS NOT NULL
      ON CONFLICT (workflow_id) DO UPDATE SET trigger = excluded.trigger, title = excluded.title, is_armed = true,
        failures = 0, revision = m.revision + 1, claimed_until = NULL,
        status = CASE WHEN m.wait = 'execution' THEN m.status ELSE 'waiting' END,
        wait = CASE WHEN m.wait = 'execution' THEN m.wait ELSE 'trigger' END,
        next_check_at = CASE WHEN m.wait = 'execution' THEN m.next_check_at
          ELSE greatest(at, m.last_tick_at + interval '1 millisecond') END,
        event = NULL, retry_after = NULL, waiting_until = NULL, completed_at = NULL, failed_at = NULL
        WHERE m.trigger IS DISTINCT FROM excluded.trigger OR m.status IN ('completed', 'failed');
    $$`
  yield* sql`
    CREATE FUNCTION follow_triggers_of_portfolio() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM follow_triggers(ARRAY[NEW.portfolio_id], NEW.updated_at);
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER portfolios_follow_triggers AFTER INSERT ON portfolios
    FOR EACH ROW EXECUTE FUNCTION follow_triggers_of_portfolio()`
  yield* sql`
    CREATE TRIGGER archived_portfolios_follow_triggers AFTER UPDATE OF archived_at ON portfolios
    FOR EACH ROW WHEN (OLD.archived_at IS DISTINCT FROM NEW.archived_at)
    EXECUTE FUNCTION follow_triggers_of_portfolio()`
  // A strategy has any number of portfolios: they follow in batches.
  yield* sql`
    CREATE FUNCTION note_trigger_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO trigger_changes (strategy_id, after_portfolio_id) VALUES (NEW.strategy_id, '')
      ON CONFLICT (strategy_id) DO UPDATE SET after_portfolio_id = '';
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER strategies_note_trigger_change AFTER UPDATE OF triggers ON strategies
    FOR EACH ROW WHEN (OLD.triggers IS DISTINCT FROM NEW.triggers) EXECUTE FUNCTION note_trigger_change()`
  // The same transitions as in domain/monitor/transitions.ts, held together by a test.
  yield* sql`
    CREATE FUNCTION wake_monitors_on_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE workflow_monitors SET status = 'ready', wait = NULL, operation_id = NULL, execution_request_id = NULL,
        event = jsonb_build_object('_tag', 'execution_completed', 'operationId', NEW.operation_id, 'state', NEW.state,
          'outcome', NEW.outcome),
        ready_at = NEW.finished_at, retry_after = NULL, waiting_until = NULL, revision = revision + 1,
        claimed_until = NULL, next_check_at = greatest(NEW.finished_at, last_tick_at + interval '1 millisecond')
      WHERE operation_id = NEW.operation_id;
      UPDATE workflow_monitors SET revision = revision + 1, claimed_until = NULL,
        next_check_at = greatest(NEW.finished_at, last_tick_at + interval '1 millisecond')
      WHERE portfolio_id = NEW.portfolio_id AND wait = 'trigger' AND next_check_at > NEW.finished_at;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER ended_operations_wake_monitors AFTER UPDATE OF finished_at ON operations
    FOR EACH ROW WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION wake_monitors_on_end()`
  yield* sql`
    CREATE FUNCTION wake_monitors_on_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE workflow_monitors SET revision = revision + 1, claimed_until = NULL,
        next_check_at = greatest(NEW.updated_at, last_tick_at + interval '1 millisecond')
      WHERE portfolio_id = NEW.portfolio_id AND wait = 'trigger' AND next_check_at > NEW.updated_at;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER started_schedules_wake_monitors AFTER UPDATE OF status ON schedules
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status = 'active')
    EXECUTE FUNCTION wake_monitors_on_start()`
})
