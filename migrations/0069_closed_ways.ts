/** A portfolio remembers on which ways between chains its last runs could not send. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE portfolios ADD COLUMN closed_ways jsonb NOT NULL DEFAULT '[]'`
})
