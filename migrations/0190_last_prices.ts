/**
 * The last price that any process saw of an asset, and when the market showed it; without a price where the source
 * answered that it lists none. What the source does not answer is read from here by all processes alike.
 */
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
})
