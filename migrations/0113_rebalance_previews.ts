/** Previews of rebalances that may be agreed to until they expire. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE rebalance_previews (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      plan_hash text COLLATE "C" NOT NULL,
      plan jsonb NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, plan_hash)
    )`
})
