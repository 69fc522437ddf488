/**
 * Strategies and their versions. A published version is what somebody's money was steered by, so the database itself
 * refuses to change one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE strategies (
      strategy_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      name text NOT NULL,
      description text,
      frequency text NOT NULL CHECK (frequency IN ('hourly', 'daily', 'weekly', 'monthly')),
      slippage_bps integer,
      price_impact_bps integer,
      threshold_usd numeric(48, 18),
      is_public boolean NOT NULL,
      head_version integer NOT NULL,
      created_at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX strategies_of_tenant ON strategies (tenant_id, created_at DESC, strategy_id DESC)`
  yield* sql`
    CREATE TABLE strategy_versions (
      strategy_id text COLLATE "C" NOT NULL REFERENCES strategies,
      version integer NOT NULL,
      allocation jsonb NOT NULL,
      change_log text,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (strategy_id, version)
    )`
  yield* sql`
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'Rows of % are immutable: insert a new one instead', TG_TABLE_NAME;
    END $$`
  yield* sql`
    CREATE TRIGGER strategy_versions_are_immutable BEFORE UPDATE OR DELETE ON strategy_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_change()`
})
