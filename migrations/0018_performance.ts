/** What portfolios are and were worth. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE portfolio_valuations (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      day date NOT NULL,
      value_usd numeric(48, 18) NOT NULL,
      cash_flow_usd numeric(48, 18) NOT NULL,
      growth numeric(48, 18),
      valued_at timestamptz(3) NOT NULL,
      is_rebased boolean NOT NULL DEFAULT false,
      PRIMARY KEY (portfolio_id, day)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX portfolio_valuations_of_day ON portfolio_valuations (day, portfolio_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE portfolio_valuations IS 'Value of each portfolio by UTC day.';
      COMMENT ON COLUMN portfolio_valuations.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN portfolio_valuations.day IS 'UTC day.';
      COMMENT ON COLUMN portfolio_valuations.value_usd IS 'Value at the last valuation of the day, USD.';
      COMMENT ON COLUMN portfolio_valuations.cash_flow_usd IS 'What came in during the day less what went out, USD.';
      COMMENT ON COLUMN portfolio_valuations.growth IS
        'Factor by which the value grew, cash flows apart. Null: not known.';
      COMMENT ON COLUMN portfolio_valuations.valued_at IS 'When it was last valued.';
      COMMENT ON COLUMN portfolio_valuations.is_rebased IS
        'Whether the return was counted anew on this day; its growth is that of the time after.';
    END $$`

  yield* sql`
    CREATE TABLE portfolio_snapshots (
      portfolio_id text COLLATE "C" PRIMARY KEY REFERENCES portfolios,
      claimed_at timestamptz(3) NOT NULL,
      taken_at timestamptz(3),
      accounts jsonb
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE portfolio_snapshots IS
        'Last valuation of each portfolio, with which the next is compared, and its claim.';
      COMMENT ON COLUMN portfolio_snapshots.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN portfolio_snapshots.claimed_at IS 'When a process last claimed it.';
      COMMENT ON COLUMN portfolio_snapshots.taken_at IS 'When it was taken. Null: not yet.';
      COMMENT ON COLUMN portfolio_snapshots.accounts IS 'What each account held, and at which block.';
    END $$`
})
