/** What stage 1 issued for an enrollment on Solana, beside the authorization; and the role of such a portfolio. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE enrollment_flows ADD COLUMN place jsonb`
  yield* sql`ALTER TABLE portfolios ADD COLUMN wallet_role_id integer`
})
