/** The widest terms that owners of a tenant's portfolios are asked to sign. Null: those of the guard. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tenants ADD COLUMN permission_terms jsonb`
})
