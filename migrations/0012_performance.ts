/**
 * Prices of assets a UTC day, and what portfolios were worth.
 *
 * `tracked_assets` says of which assets prices are recorded and up to which day their history has no gap that the
 * source could fill. A portfolio's snapshot is what its next valuation is compared with, and the row by which
 * processes claim portfolios. Deltas of settled trades are found by account and block.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE tracked_assets (
      asset_id text COLLATE "C" PRIMARY KEY,
      tracked_at timestamptz(3) NOT NULL,
      attempted_at timestamptz(3),
      complete_through date
    )`
  yield* sql`
    CREATE TABLE asset_daily_prices (
      asset_id text COLLATE "C" NOT NULL,
      day date NOT NULL,
      price_usd numeric(48, 18) NOT NULL CHECK (price_usd > 0),
      recorded_at timestamptz(3) NOT NULL,
      PRIMARY KEY (asset_id, day)
    )`
  yield* sql`CREATE INDEX strategy_versions_by_time ON strategy_versions (created_at)`
  yield* sql`
    CREATE TABLE portfolio_valuations (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      day date NOT NULL,
      value_usd numeric(48, 18) NOT NULL,
      cash_flow_usd numeric(48, 18) NOT NULL,
      growth numeric(48, 18),
      valued_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, day)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX portfolio_valuations_of_day ON portfolio_valuations (day, portfolio_id)`
  yield* sql`
    CREATE TABLE portfolio_snapshots (
      portfolio_id text COLLATE "C" PRIMARY KEY REFERENCES portfolios,
      claimed_at timestamptz(3) NOT NULL,
      taken_at timestamptz(3),
      accounts jsonb
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`
    CREATE INDEX relayed_transactions_settled ON relayed_transactions (account_id,
      ((receipt ->> 'blockNumber')::numeric))
    WHERE status = 'succeeded'`
  yield* sql`CREATE INDEX relayed_transactions_signed ON relayed_transactions (account_id) WHERE status = 'signed'`
})
