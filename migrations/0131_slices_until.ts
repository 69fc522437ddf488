/**
 * When a portfolio that trades in slices is due without them: the slices are made before, and the grid of due times
 * stays.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedules ADD COLUMN slices_until timestamptz(3)`
})
