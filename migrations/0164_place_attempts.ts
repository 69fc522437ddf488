/** Signed transactions of enrollments on Solana, written down before they are sent. They go with their flows. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE place_attempts (
      flow_id text COLLATE "C" NOT NULL REFERENCES enrollment_flows ON DELETE CASCADE,
      number integer NOT NULL CHECK (number >= 1),
      owner_signature text NOT NULL,
      signed text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (flow_id, number)
    )`
})
