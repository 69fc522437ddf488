/** What the venues of its chain give for a listed token, and when they were asked. */
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
})
