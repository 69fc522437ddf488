/**
 * Drift checks of due portfolios are no longer written to the log: they matter for seconds, and a database that lost
 * them costs a second check. So claiming due portfolios waits for no disk.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedule_looks SET UNLOGGED`
})
