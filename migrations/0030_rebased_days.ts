/**
 * Days on which a portfolio's return was counted anew, as what became of the value before is not known. `growth` of
 * such a day is that of the time after.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE portfolio_valuations ADD COLUMN is_rebased boolean NOT NULL DEFAULT false`
})
