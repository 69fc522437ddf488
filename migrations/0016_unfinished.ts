/** The oldest unfinished step is queried every few seconds, among all operations and transactions there ever were. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE INDEX operations_unfinished ON operations (state, updated_at)
    WHERE state IN ('accepted', 'running', 'retrying')`
})
