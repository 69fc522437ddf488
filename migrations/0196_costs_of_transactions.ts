/**
 * What a transaction may offer for a unit of gas at most, since when the market asks more than that, and which of its
 * replacements takes it back.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayed_transactions ADD COLUMN fee_ceiling numeric(78, 0), ADD COLUMN held_since timestamptz`
  yield* sql`ALTER TABLE relayed_replacements ADD COLUMN cancels boolean NOT NULL DEFAULT false`
})
