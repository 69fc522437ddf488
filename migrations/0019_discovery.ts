/** Strategies that other tenants find, and what they are ranked by. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE discovery_entries (
      strategy_id text COLLATE "C" PRIMARY KEY REFERENCES strategies ON DELETE CASCADE,
      tvl_usd numeric(48, 18),
      inflows_7d_usd numeric(48, 18),
      users integer,
      portfolio_count integer,
      windows jsonb NOT NULL DEFAULT '[]',
      windows_at timestamptz(3)
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`
  // Unknown as the lowest of all values: a page is then found by one comparison, which NULLS LAST would not allow.
  yield* sql`
    CREATE INDEX discovery_by_tvl ON discovery_entries
      (coalesce(tvl_usd, '-Infinity'::numeric) DESC, strategy_id DESC)`
  yield* sql`
    CREATE INDEX discovery_by_inflows ON discovery_entries
      (coalesce(inflows_7d_usd, '-Infinity'::numeric) DESC, strategy_id DESC)`
  yield* sql`
    CREATE INDEX discovery_by_users ON discovery_entries
      (coalesce(users, '-Infinity'::numeric) DESC, strategy_id DESC)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE discovery_entries IS
        'Strategies that are public and may be mirrored. Triggers list and unlist them in the same commit.';
      COMMENT ON COLUMN discovery_entries.strategy_id IS 'Strategy.';
      COMMENT ON COLUMN discovery_entries.tvl_usd IS 'Value of the portfolios that follow it, USD. Null: not known.';
      COMMENT ON COLUMN discovery_entries.inflows_7d_usd IS 'What came in within seven days, USD. Null: not known.';
      COMMENT ON COLUMN discovery_entries.users IS 'Owners who follow it. Null: not known.';
      COMMENT ON COLUMN discovery_entries.portfolio_count IS 'Portfolios that follow it. Null: not known.';
      COMMENT ON COLUMN discovery_entries.windows IS 'Returns by span of time.';
      COMMENT ON COLUMN discovery_entries.windows_at IS 'When the returns were measured.';
    END $$`
  // A strategy that nobody follows is known to hold nothing; others are unknown until the next pass of the analytics.
  yield* sql`
    CREATE FUNCTION list_in_discovery() RETURNS trigger LANGUAGE plpgsql AS $$
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
    CREATE TRIGGER strategies_begin_listed AFTER INSERT ON strategies
    FOR EACH ROW WHEN (NEW.is_public AND NEW.can_mirror) EXECUTE FUNCTION list_in_discovery()`
  yield* sql`
    CREATE TRIGGER strategies_change_listing AFTER UPDATE OF is_public, can_mirror ON strategies
    FOR EACH ROW WHEN ((OLD.is_public AND OLD.can_mirror) <> (NEW.is_public AND NEW.can_mirror))
    EXECUTE FUNCTION list_in_discovery()`
  yield* sql`
    CREATE TRIGGER strategies_leave_discovery AFTER UPDATE OF archived_at ON strategies
    FOR EACH ROW WHEN (OLD.archived_at IS DISTINCT FROM NEW.archived_at) EXECUTE FUNCTION list_in_discovery()`

  yield* sql`
    CREATE TABLE curated_strategies (
      position integer PRIMARY KEY CHECK (position > 0),
      strategy_id text COLLATE "C" NOT NULL UNIQUE REFERENCES strategies ON DELETE CASCADE
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE curated_strategies IS 'Selection of the operator.';
      COMMENT ON COLUMN curated_strategies.position IS 'Position in the selection, from 1.';
      COMMENT ON COLUMN curated_strategies.strategy_id IS 'Strategy.';
    END $$`

  yield* sql`
    CREATE TABLE discovery_analytics (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      claimed_at timestamptz(3),
      measured_at timestamptz(3)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE discovery_analytics IS 'Passes of the analytics, which all processes share: one row.';
      COMMENT ON COLUMN discovery_analytics.single IS 'True, so that there is one row.';
      COMMENT ON COLUMN discovery_analytics.claimed_at IS 'When a process last began a pass.';
      COMMENT ON COLUMN discovery_analytics.measured_at IS 'When a pass last ended.';
    END $$`
  yield* sql`INSERT INTO discovery_analytics DEFAULT VALUES`
})
