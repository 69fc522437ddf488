/** When operations went on after they had waited for their owner: that time is no work that stands still. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE operations ADD COLUMN resumed_at timestamptz(3)`
})
