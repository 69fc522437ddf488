/** Prices of assets. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE last_prices (
      asset_id text COLLATE "C" PRIMARY KEY,
      price_usd numeric(48, 18) CHECK (price_usd > 0),
      as_of timestamptz(3),
      source text,
      disputed_by text,
      disputed_usd numeric(48, 18),
      recorded_at timestamptz(3) NOT NULL,
      CHECK ((price_usd IS NULL) = (as_of IS NULL)),
      CHECK ((disputed_usd IS NULL) = (disputed_by IS NULL))
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE last_prices IS
        'Last price of each asset that any process saw, which all read while the source is down.';
      COMMENT ON COLUMN last_prices.asset_id IS 'Asset, CAIP-19.';
      COMMENT ON COLUMN last_prices.price_usd IS 'Price of a unit, USD. Null: the source lists none.';
      COMMENT ON COLUMN last_prices.as_of IS 'When the market showed it.';
      COMMENT ON COLUMN last_prices.source IS 'Who said it.';
      COMMENT ON COLUMN last_prices.disputed_by IS 'Second source that contradicts it. Null: none does.';
      COMMENT ON COLUMN last_prices.disputed_usd IS 'What that source says, USD.';
      COMMENT ON COLUMN last_prices.recorded_at IS 'When it was written.';
    END $$`

  yield* sql`
    CREATE TABLE asset_daily_prices (
      asset_id text COLLATE "C" NOT NULL,
      day date NOT NULL,
      price_usd numeric(48, 18) NOT NULL CHECK (price_usd > 0),
      recorded_at timestamptz(3) NOT NULL,
      PRIMARY KEY (asset_id, day)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE asset_daily_prices IS 'Price of each tracked asset by UTC day.';
      COMMENT ON COLUMN asset_daily_prices.asset_id IS 'Asset, CAIP-19.';
      COMMENT ON COLUMN asset_daily_prices.day IS 'UTC day.';
      COMMENT ON COLUMN asset_daily_prices.price_usd IS 'Price of a unit at the end of the day, USD.';
      COMMENT ON COLUMN asset_daily_prices.recorded_at IS 'When it was written.';
    END $$`

  yield* sql`
    CREATE TABLE tracked_assets (
      asset_id text COLLATE "C" PRIMARY KEY,
      tracked_at timestamptz(3) NOT NULL,
      attempted_at timestamptz(3),
      complete_through date
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE tracked_assets IS 'Assets of which prices are recorded by day.';
      COMMENT ON COLUMN tracked_assets.asset_id IS 'Asset, CAIP-19.';
      COMMENT ON COLUMN tracked_assets.tracked_at IS 'Since when its prices are recorded.';
      COMMENT ON COLUMN tracked_assets.attempted_at IS 'When its history was last asked for.';
      COMMENT ON COLUMN tracked_assets.complete_through IS
        'Day up to which its history has no gap that the source could fill.';
    END $$`
})
