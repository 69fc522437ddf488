/**
 * What holdings of listed tokens are held against: what the venues of their chain give for them, and which of them are
 * two entries to one balance.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE assets
      ADD COLUMN market_price_usd numeric,
      ADD COLUMN market_depth_usd numeric,
      ADD COLUMN market_at timestamptz(3),
      ADD CONSTRAINT market_is_whole CHECK ((market_price_usd IS NULL) = (market_depth_usd IS NULL))`
  // Unknown where are_one is null: it could not be found out when it was tried.
  yield* sql`
    CREATE TABLE token_entries (
      main_id text COLLATE "C" NOT NULL,
      other_id text COLLATE "C" NOT NULL,
      are_one boolean,
      judged_at timestamptz(3) NOT NULL,
      PRIMARY KEY (main_id, other_id)
    )`
  yield* sql`CREATE UNIQUE INDEX token_entries_of_pair
    ON token_entries (least(main_id, other_id), greatest(main_id, other_id))`
})
