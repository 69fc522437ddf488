/**
 * Drift checks of due portfolios: which ranges of what is due are claimed and until when, so that other processes claim
 * others meanwhile; and when a portfolio was last checked. A check is a row, or a row a tenant, and not a mark on each
 * schedule, which would cost as much as half a claim.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedules ADD COLUMN checked_at timestamptz(3)`
  yield* sql`
    CREATE TABLE schedule_looks (
      look_id text COLLATE "C" NOT NULL,
      tenant_id text COLLATE "C",
      first_due_at timestamptz(3) NOT NULL,
      first_portfolio_id text COLLATE "C" NOT NULL,
      last_due_at timestamptz(3) NOT NULL,
      last_portfolio_id text COLLATE "C" NOT NULL,
      until timestamptz(3) NOT NULL
    )`
})
