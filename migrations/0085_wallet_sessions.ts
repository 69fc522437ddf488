/**
 * People who sign in with wallets: users, their memberships of tenants, their sessions, and the nonces that were used.
 *
 * A session keeps the hash of its token and of the token before. A used nonce is kept until its own time is over.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE users (
      user_id text COLLATE "C" PRIMARY KEY,
      wallet_id text COLLATE "C" NOT NULL UNIQUE,
      created_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    CREATE TABLE tenant_members (
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      user_id text COLLATE "C" NOT NULL REFERENCES users,
      role text NOT NULL CHECK (role IN ('owner', 'viewer')),
      joined_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, user_id)
    )`
  yield* sql`CREATE INDEX tenant_members_of_user ON tenant_members (user_id)`
  yield* sql`
    CREATE TABLE wallet_sessions (
      session_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      hash bytea NOT NULL UNIQUE,
      former_hash bytea UNIQUE,
      created_at timestamptz(3) NOT NULL,
      rotated_at timestamptz(3) NOT NULL,
      used_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3),
      FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members ON DELETE CASCADE
    )`
  yield* sql`CREATE INDEX wallet_sessions_of_user ON wallet_sessions (user_id, created_at)`
  yield* sql`CREATE TABLE used_nonces (nonce text COLLATE "C" PRIMARY KEY, expires_at timestamptz(3) NOT NULL)`
  yield* sql`CREATE INDEX used_nonces_over ON used_nonces (expires_at)`
})
