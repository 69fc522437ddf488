/**
 * How many runs of a portfolio in a row could not read, quote or send everything; the next one comes the later for it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedules ADD COLUMN retries integer NOT NULL DEFAULT 0`
})
