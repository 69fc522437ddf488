/** What is known of a key: where it works, null for those of before; and when it was used last. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE api_keys ADD COLUMN environment text CHECK (environment IN ('live', 'test')),
      ADD COLUMN last_used_at timestamptz(3)`
})
