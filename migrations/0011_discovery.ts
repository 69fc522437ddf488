/**
 * Discovery: one narrow row for each strategy that is public and mirrorable, with what it is ranked by, one index a
 * ranking, and the operator's selection.
 *
 * A trigger lists and unlists strategies in the transaction that changes them, so that they appear and vanish at once.
 * A strategy that begins public has no portfolios, so its numbers are known to be zero; one that becomes public later
 * is unknown until the next pass of the analytics.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE discovery_entries (
      strategy_id text COLLATE "C" PRIMARY KEY REFERENCES strategies,
      tvl_usd numeric(48, 18),
      inflows_7d_usd numeric(48, 18),
      users integer,
      portfolio_count integer,
      windows jsonb NOT NULL DEFAULT '[]',
      windows_at timestamptz(3)
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`
  for (const [name, column] of [
    ["tvl", "tvl_usd"],
    ["inflows", "inflows_7d_usd"],
    ["users", "users"]
  ] as const) {
    // Unknown as the least of all values: a page is then found by one comparison, which NULLS LAST would not allow.
    yield* sql`
      CREATE INDEX ${sql(`discovery_by_${name}`)} ON discovery_entries
        (coalesce(${sql(column)}, '-Infinity'::numeric) DESC, strategy_id DESC)`
  }
  yield* sql`
    INSERT INTO discovery_entries (strategy_id) SELECT strategy_id FROM strategies WHERE is_public AND can_mirror`
  yield* sql`
    CREATE FUNCTION list_in_discovery() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT (NEW.is_public AND NEW.can_mirror) THEN
        DELETE FROM discovery_entries WHERE strategy_id = NEW.strategy_id;
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO discovery_entries (strategy_id, tvl_usd, inflows_7d_usd, users, portfolio_count)
        VALUES (NEW.strategy_id, 0, 0, 0, 0);
      ELSE
        INSERT INTO discovery_entries (strategy_id) VALUES (NEW.strategy_id) ON CONFLICT DO NOTHING;
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
    CREATE TABLE curated_strategies (
      place integer PRIMARY KEY CHECK (place > 0),
      strategy_id text COLLATE "C" NOT NULL UNIQUE REFERENCES strategies
    )`
  // The passes of the analytics, which all processes share: one row.
  yield* sql`
    CREATE TABLE discovery_analytics (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      claimed_at timestamptz(3),
      measured_at timestamptz(3)
    )`
  yield* sql`INSERT INTO discovery_analytics DEFAULT VALUES`
})
