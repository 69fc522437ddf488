/** Finds what arrived for a portfolio since a time, however many transfers it has had. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX transfers_closed_of_portfolio ON transfers (portfolio_id, closed_at) WHERE state <> 'open'`
})
