/**
 * When keys were last used, by which key one is replaced, and under which pepper each is hashed.
 *
 * A pepper has a name that does not reveal it. A key without one was made before, under any pepper; its next use fills
 * the name in. From `peppers` the command line reads which pepper the service has.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE api_keys
      ADD COLUMN last_used_at timestamptz(3),
      ADD COLUMN replaced_by text COLLATE "C" REFERENCES api_keys,
      ADD COLUMN pepper text COLLATE "C"`
  yield* sql`CREATE TABLE peppers (pepper text COLLATE "C" PRIMARY KEY, noted_at timestamptz(3) NOT NULL)`
})
