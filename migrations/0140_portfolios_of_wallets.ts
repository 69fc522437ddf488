/**
 * Whoever signs in with a wallet reads the operations of the portfolios that it owns, in whatever tenant, archived ones
 * too.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX portfolios_of_wallet ON portfolios (owner_account_id, portfolio_id)`
})
