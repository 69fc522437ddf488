/**
 * Requests that clients named, and what was answered to them. `answer` is sealed: it may hold a secret that is shown
 * once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE idempotency_keys (
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      route text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      fingerprint bytea NOT NULL,
      claim_id text COLLATE "C" NOT NULL,
      claimed_until timestamptz(3) NOT NULL,
      created_at timestamptz(3) NOT NULL,
      status integer,
      answer bytea,
      PRIMARY KEY (tenant_id, route, key)
    )`
  yield* sql`CREATE INDEX idempotency_keys_old ON idempotency_keys (created_at)`
})
