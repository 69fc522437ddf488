/** The version of the workflow under which a run was begun. Processes of before begin runs of the first one. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE workflow_messages ADD COLUMN version integer NOT NULL DEFAULT 1`
})
