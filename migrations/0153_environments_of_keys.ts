/** Where a key works; null for those of before. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE api_keys ADD COLUMN environment text CHECK (environment IN ('live', 'test'))`
})
