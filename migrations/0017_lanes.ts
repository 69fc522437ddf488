/** A relayer account is chosen by how much of what it signed is not settled yet. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX relayed_transactions_unsettled ON relayed_transactions (chain_id, relayer)
    WHERE status = 'signed'`
})
