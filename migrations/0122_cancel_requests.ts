/** An operation may be cancelled on request: its run sends nothing that is not signed yet, and ends. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE operations ADD COLUMN cancel_requested_at timestamptz(3)`
})
