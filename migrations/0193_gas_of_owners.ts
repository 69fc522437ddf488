/**
 * Gas that the service paid for what owners signed, apart from what the agent did: no act of the agent uses up what a
 * withdrawal needs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE gas_spent ADD COLUMN owner_gas numeric(78, 0) NOT NULL DEFAULT 0`
})
