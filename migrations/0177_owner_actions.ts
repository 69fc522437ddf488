/** What a tenant lets owners of its portfolios do by their wallets' sessions. Null: nothing. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tenants ADD COLUMN owner_actions jsonb`
})
