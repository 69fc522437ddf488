/** Rebalances: their reports, previews, and checks of drift. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE rebalance_runs (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      strategy_version integer NOT NULL,
      report jsonb NOT NULL,
      finished_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE rebalance_runs IS 'Reports of finished rebalances.';
      COMMENT ON COLUMN rebalance_runs.operation_id IS 'Operation.';
      COMMENT ON COLUMN rebalance_runs.strategy_version IS 'Version that was followed.';
      COMMENT ON COLUMN rebalance_runs.report IS 'What was done on each chain.';
      COMMENT ON COLUMN rebalance_runs.finished_at IS 'When the run ended.';
    END $$`

  yield* sql`
    CREATE TABLE rebalance_previews (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      plan_hash text COLLATE "C" NOT NULL,
      plan jsonb NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, plan_hash)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE rebalance_previews IS 'Previews that may be agreed to until they expire.';
      COMMENT ON COLUMN rebalance_previews.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN rebalance_previews.plan_hash IS 'Hash of the plan, by which it is agreed to.';
      COMMENT ON COLUMN rebalance_previews.plan IS 'Plan that was shown.';
      COMMENT ON COLUMN rebalance_previews.expires_at IS 'When it may no longer be agreed to.';
    END $$`

  yield* sql`
    CREATE UNLOGGED TABLE drift_checks (
      check_id text COLLATE "C" NOT NULL,
      tenant_id text COLLATE "C",
      first_due_at timestamptz(3) NOT NULL,
      first_portfolio_id text COLLATE "C" NOT NULL,
      last_due_at timestamptz(3) NOT NULL,
      last_portfolio_id text COLLATE "C" NOT NULL,
      until timestamptz(3) NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE drift_checks IS
        'Claims of due portfolios by range. Unlogged: a database that lost them costs a second check.';
      COMMENT ON COLUMN drift_checks.check_id IS 'Check; it has a row, or one for each tenant.';
      COMMENT ON COLUMN drift_checks.tenant_id IS 'Tenant whose portfolios are claimed. Null: those of all.';
      COMMENT ON COLUMN drift_checks.first_due_at IS 'Due time at which the range begins.';
      COMMENT ON COLUMN drift_checks.first_portfolio_id IS 'Portfolio at which the range begins.';
      COMMENT ON COLUMN drift_checks.last_due_at IS 'Due time at which the range ends.';
      COMMENT ON COLUMN drift_checks.last_portfolio_id IS 'Portfolio at which the range ends.';
      COMMENT ON COLUMN drift_checks.until IS 'Until when the range is claimed.';
    END $$`
})
