/**
 * Secrets of a webhook that a rotation before the last one replaced and that still sign, newest first:
 * `[{"secret": <hex of the sealed secret>, "until": <ISO 8601>}]`. Null: none.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE webhooks ADD COLUMN older_secrets jsonb`
})
