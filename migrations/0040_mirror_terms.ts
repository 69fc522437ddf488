/**
 * Who may mirror a strategy, and on which terms.
 *
 * A strategy may be mirrored once the operator has said so. Nobody had a way to say it before, so no strategy may now;
 * portfolios that follow one of another tenant go on.
 *
 * `mirror_terms` is what a tenant accepted of a strategy that another one created: its cadence and swap preferences as
 * they were when the tenant first enrolled somebody, or accepted them last. A cadence is never faster than the accepted
 * one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE strategies ALTER COLUMN can_mirror SET DEFAULT false`
  yield* sql`UPDATE strategies SET can_mirror = false WHERE can_mirror`
  // A strategy is listed once the operator allows it, often before anybody follows it: it is known to hold nothing
  // then.
  yield* sql`
    CREATE OR REPLACE FUNCTION list_in_discovery() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT (NEW.is_public AND NEW.can_mirror) THEN
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
    CREATE TABLE mirror_terms (
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      strategy_id text COLLATE "C" NOT NULL REFERENCES strategies,
      frequency text NOT NULL CHECK (frequency IN ('hourly', 'daily', 'weekly', 'monthly')),
      slippage_bps integer,
      price_impact_bps integer,
      threshold_usd numeric(48, 18),
      accepted_at timestamptz(3) NOT NULL,
      PRIMARY KEY (strategy_id, tenant_id)
    )`
  yield* sql`
    INSERT INTO mirror_terms
      (tenant_id, strategy_id, frequency, slippage_bps, price_impact_bps, threshold_usd, accepted_at)
    SELECT p.tenant_id, s.strategy_id, s.frequency, s.slippage_bps, s.price_impact_bps, s.threshold_usd,
    min(p.created_at)
    FROM portfolios p JOIN strategies s ON s.strategy_id = p.strategy_id
    WHERE p.tenant_id <> s.tenant_id GROUP BY p.tenant_id, s.strategy_id`
  yield* sql`
    CREATE FUNCTION slower_frequency(ours text, accepted text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT CASE WHEN accepted IS NULL
          OR array_position(ARRAY['hourly', 'daily', 'weekly', 'monthly'], ours)
            >= array_position(ARRAY['hourly', 'daily', 'weekly', 'monthly'], accepted)
        THEN ours ELSE accepted END
    $$`
})
