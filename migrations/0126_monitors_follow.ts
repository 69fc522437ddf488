/**
 * What monitors follow, kept by triggers of the tables, so that it is whole whichever version of the service writes: a
 * portfolio of a strategy with triggers has its monitor from its first moment, the end of an operation wakes the
 * monitors that wait for it in the same commit, and every change of what a portfolio holds has its triggers checked.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The ids of the one are the ids of the other, so that a portfolio can never have two monitors of its strategy. A
  // tenant that mirrors the strategy has not agreed to more runs than its schedule, so its portfolios have none.
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
    CREATE FUNCTION tell_monitors_of_end() RETURNS trigger LANGUAGE plpgsql AS $$
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
    CREATE TRIGGER ended_operations_tell_monitors AFTER UPDATE OF finished_at ON operations
    FOR EACH ROW WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION tell_monitors_of_end()`

  yield* sql`
    CREATE FUNCTION tell_monitors_of_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE workflow_monitors SET revision = revision + 1, claimed_until = NULL,
        next_check_at = greatest(NEW.updated_at, last_tick_at + interval '1 millisecond')
      WHERE portfolio_id = NEW.portfolio_id AND wait = 'trigger' AND next_check_at > NEW.updated_at;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER started_schedules_tell_monitors AFTER UPDATE OF status ON schedules
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status = 'active')
    EXECUTE FUNCTION tell_monitors_of_start()`
})
