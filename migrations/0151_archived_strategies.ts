/**
 * Strategies that nobody uses can be deleted, and others archived: portfolios that follow one go on. An archived one is
 * in no discovery. A version still never changes; it goes only together with its strategy.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE strategies ADD COLUMN archived_at timestamptz(3)`
  for (const [name, condition] of [
    ["live", "archived_at IS NULL"],
    ["archived", "archived_at IS NOT NULL"]
  ] as const) {
    yield* sql.unsafe(`
      CREATE INDEX strategies_of_tenant_${name} ON strategies (tenant_id, created_at DESC, strategy_id DESC)
      WHERE ${condition}`)
  }
  // What names a strategy is queried whenever one goes.
  yield* sql`CREATE INDEX portfolios_naming ON portfolios (strategy_id)`
  yield* sql`CREATE INDEX enrollment_flows_naming ON enrollment_flows (strategy_id)`
  for (const table of [
    "strategy_versions",
    "cadence_changes",
    "discovery_entries",
    "curated_strategies",
    "trigger_changes"
  ]) {
    yield* sql.unsafe(`
      ALTER TABLE ${table} DROP CONSTRAINT ${table}_strategy_id_fkey,
        ADD CONSTRAINT ${table}_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES strategies ON DELETE CASCADE`)
  }
  yield* sql`
    CREATE FUNCTION refuse_change_of_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM strategies WHERE strategy_id = OLD.strategy_id) THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'Rows of % are immutable: insert a new one instead', TG_TABLE_NAME;
    END $$`
  yield* sql`DROP TRIGGER strategy_versions_are_immutable ON strategy_versions`
  yield* sql`
    CREATE TRIGGER strategy_versions_are_immutable BEFORE UPDATE OR DELETE ON strategy_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_version()`

  yield* sql`
    CREATE OR REPLACE FUNCTION list_in_discovery() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT (NEW.is_public AND NEW.can_mirror AND NEW.archived_at IS NULL) THEN
        DELETE FROM discovery_entries WHERE strategy_id = NEW.strategy_id;
      ELSIF EXISTS (SELECT FROM portfolios WHERE strategy_id = NEW.strategy_id) THEN
        INSERT INTO discovery_entries (strategy_id) VALUES (NEW.strategy_id) ON CONFLICT DO NOTHING;
      ELSE
        INSERT INTO discovery_entries (strategy_id, tvl_usd, inflows_7d_usd, users, portfolio_count)
        VALUES (NEW.strategy_id, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER strategies_leave_discovery AFTER UPDATE OF archived_at ON strategies
    FOR EACH ROW WHEN (OLD.archived_at IS DISTINCT FROM NEW.archived_at) EXECUTE FUNCTION list_in_discovery()`
})
