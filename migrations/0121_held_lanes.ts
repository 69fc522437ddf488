/** A relayer's lane is held while its key signs, by a row and not by a lock: who signs, and until when others wait. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayer_nonces ADD COLUMN held_by text COLLATE "C", ADD COLUMN held_until timestamptz(3)`
})
