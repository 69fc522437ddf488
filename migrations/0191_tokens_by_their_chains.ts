/** What the chain itself says of a listed token: its decimals, why it is refused, and when it was asked. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE assets
      ADD COLUMN chain_decimals integer,
      ADD COLUMN refusal text,
      ADD COLUMN checked_at timestamptz(3)`
})
