/** What probes of readiness write. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE probe_writes CYCLE`
  yield* sql`
    COMMENT ON SEQUENCE probe_writes IS
      'Probes of readiness take a number: no row is needed, and a server that only reads refuses.'`
})
