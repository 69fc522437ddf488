/**
 * Looks at due portfolios: until when a process looks at one, so that others look elsewhere meanwhile, and when the last
 * look ended. Neither column is in an index, so a look rewrites no index entry.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE schedules ADD COLUMN looking_until timestamptz(3), ADD COLUMN checked_at timestamptz(3)`
})
