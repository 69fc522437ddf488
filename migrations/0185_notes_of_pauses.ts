/** What whoever stopped the automation of a portfolio said of why. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedules ADD COLUMN pause_note text`
})
