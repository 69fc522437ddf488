/** Flows are found by when they expired, so that they can be removed in bounded pieces. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX enrollment_flows_by_expiry ON enrollment_flows (expires_at)`
})
