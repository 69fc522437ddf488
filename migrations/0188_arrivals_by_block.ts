/** Finds the last block in which a transfer arrived at an account, or came back to it, however many it has had. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE INDEX transfers_arrived_at ON transfers
      (destination_id, ((ending #>> '{received,blockNumber}')::numeric))
    WHERE state IN ('delivered', 'partial') AND ending #>> '{received,blockNumber}' IS NOT NULL`
  yield* sql`
    CREATE INDEX transfers_returned_to ON transfers
      (account_id, ((ending #>> '{received,blockNumber}')::numeric))
    WHERE state = 'refunded' AND ending #>> '{received,blockNumber}' IS NOT NULL`
})
