/**
 * What probes of readiness write: a number of a sequence, which needs no row, and which a server that only reads
 * refuses.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE probe_writes CYCLE`
})
