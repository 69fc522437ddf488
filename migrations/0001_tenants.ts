/** Integrators and the keyed hashes of their API keys. A secret is never stored. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE tenants (
      tenant_id text COLLATE "C" PRIMARY KEY,
      name text NOT NULL,
      email text NOT NULL,
      entitlements text[] NOT NULL,
      created_at timestamptz(3) NOT NULL,
      disabled_at timestamptz(3)
    )`
  yield* sql`
    CREATE TABLE api_keys (
      api_key_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      name text NOT NULL,
      preview text NOT NULL,
      hash bytea NOT NULL UNIQUE,
      scopes text[] NOT NULL,
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3),
      revoked_at timestamptz(3)
    )`
  yield* sql`CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, created_at DESC, api_key_id DESC)`
})
