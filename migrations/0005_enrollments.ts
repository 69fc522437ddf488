/** Enrollment flows between their two stages, and the account index that each owner's next portfolio gets. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE owner_indexes (
      owner_account_id text COLLATE "C" PRIMARY KEY,
      next_index numeric(78, 0) NOT NULL
    )`
  yield* sql`
    CREATE TABLE enrollment_flows (
      flow_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      strategy_id text COLLATE "C" NOT NULL REFERENCES strategies,
      authorization_document jsonb NOT NULL,
      request_hash bytea,
      lease_until timestamptz(3),
      outcome jsonb,
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) NOT NULL
    )`
})
