/** Who may call the service: tenants, their keys, people who sign in with wallets, and requests that clients named. */
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
      disabled_at timestamptz(3),
      slippage_bps integer,
      price_impact_bps integer,
      threshold_usd numeric(48, 18),
      frequency text CHECK (frequency IN ('hourly', 'daily', 'weekly', 'monthly')),
      swap_fee_bps integer CHECK (swap_fee_bps BETWEEN 0 AND 300),
      rebalance_policy jsonb,
      permission_terms jsonb,
      owner_address text COLLATE "C",
      origins jsonb,
      owner_actions jsonb
    )`
  yield* sql`CREATE INDEX tenants_of_owner ON tenants (owner_address) WHERE owner_address IS NOT NULL`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE tenants IS 'Integrators, and what each configured. Null of a setting: the deployment''s counts.';
      COMMENT ON COLUMN tenants.tenant_id IS 'Id: tn_ and a ULID.';
      COMMENT ON COLUMN tenants.name IS 'Name for people.';
      COMMENT ON COLUMN tenants.email IS 'Address of the contact.';
      COMMENT ON COLUMN tenants.entitlements IS 'What the operator allows beyond the general.';
      COMMENT ON COLUMN tenants.created_at IS 'When the row was made.';
      COMMENT ON COLUMN tenants.disabled_at IS 'Since when its keys and sessions are refused. Null: they work.';
      COMMENT ON COLUMN tenants.slippage_bps IS 'Most that a swap may lose to slippage, basis points.';
      COMMENT ON COLUMN tenants.price_impact_bps IS 'Most that a swap may move the price, basis points.';
      COMMENT ON COLUMN tenants.threshold_usd IS 'Minimum value of a trade, USD.';
      COMMENT ON COLUMN tenants.frequency IS 'How often its portfolios are due.';
      COMMENT ON COLUMN tenants.swap_fee_bps IS 'Fee of the tenant on swaps, basis points.';
      COMMENT ON COLUMN tenants.rebalance_policy IS 'When drift is worth a trade, where a strategy has no policy.';
      COMMENT ON COLUMN tenants.permission_terms IS
        'Widest terms that owners of its portfolios are asked to sign. Null: those of the guard.';
      COMMENT ON COLUMN tenants.owner_address IS
        'Address of the account that the operator names as the tenant''s owner.';
      COMMENT ON COLUMN tenants.origins IS 'Origins of its pages, which may call the API with its keys.';
      COMMENT ON COLUMN tenants.owner_actions IS
        'What owners of its portfolios may do by their wallets'' sessions. Null: nothing.';
    END $$`

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
      revoked_at timestamptz(3),
      environment text NOT NULL CHECK (environment IN ('live', 'test')),
      last_used_at timestamptz(3),
      replaced_by text COLLATE "C" REFERENCES api_keys,
      pepper text COLLATE "C" NOT NULL
    )`
  yield* sql`CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, created_at DESC, api_key_id DESC)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE api_keys IS 'Keys of tenants. A secret is never stored, only its keyed hash.';
      COMMENT ON COLUMN api_keys.api_key_id IS 'Id: key_ and a ULID.';
      COMMENT ON COLUMN api_keys.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN api_keys.name IS 'Name for people.';
      COMMENT ON COLUMN api_keys.preview IS 'First characters of the secret, by which people recognize it.';
      COMMENT ON COLUMN api_keys.hash IS 'HMAC of the secret under the pepper.';
      COMMENT ON COLUMN api_keys.scopes IS 'What the key may do.';
      COMMENT ON COLUMN api_keys.created_at IS 'When the row was made.';
      COMMENT ON COLUMN api_keys.expires_at IS 'When it ends. Null: never.';
      COMMENT ON COLUMN api_keys.revoked_at IS 'When it was revoked.';
      COMMENT ON COLUMN api_keys.environment IS 'Where it works: live or test.';
      COMMENT ON COLUMN api_keys.last_used_at IS 'When it was last used, to within a minute.';
      COMMENT ON COLUMN api_keys.replaced_by IS 'Key that a rotation made in its place.';
      COMMENT ON COLUMN api_keys.pepper IS
        'Name of the pepper under which it is hashed; the name does not reveal the pepper.';
    END $$`

  yield* sql`
    CREATE TABLE peppers (
      pepper text COLLATE "C" PRIMARY KEY,
      noted_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE peppers IS
        'Names of the peppers that the service has had; the command line reads which one it has.';
      COMMENT ON COLUMN peppers.pepper IS 'Name of the pepper, which does not reveal it.';
      COMMENT ON COLUMN peppers.noted_at IS 'When a process of the service first had it.';
    END $$`

  yield* sql`
    CREATE TABLE users (
      user_id text COLLATE "C" PRIMARY KEY,
      wallet_id text COLLATE "C" NOT NULL UNIQUE,
      created_at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX users_by_address ON users (split_part(wallet_id, ':', 3))`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE users IS 'People who sign in with a wallet.';
      COMMENT ON COLUMN users.user_id IS 'Id: usr_ and a ULID.';
      COMMENT ON COLUMN users.wallet_id IS 'Wallet, CAIP-10.';
      COMMENT ON COLUMN users.created_at IS 'When the row was made.';
    END $$`

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
    DO $$ BEGIN
      COMMENT ON TABLE tenant_members IS 'Memberships of people in tenants.';
      COMMENT ON COLUMN tenant_members.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN tenant_members.user_id IS 'Person.';
      COMMENT ON COLUMN tenant_members.role IS 'What the person may do in the tenant.';
      COMMENT ON COLUMN tenant_members.joined_at IS 'When the person joined.';
    END $$`

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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE wallet_sessions IS
        'Sessions of people. A session keeps the hash of its token and of the token before it.';
      COMMENT ON COLUMN wallet_sessions.session_id IS 'Id: ses_ and a ULID.';
      COMMENT ON COLUMN wallet_sessions.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN wallet_sessions.user_id IS 'Person.';
      COMMENT ON COLUMN wallet_sessions.hash IS 'HMAC of the token.';
      COMMENT ON COLUMN wallet_sessions.former_hash IS 'HMAC of the token before the last rotation.';
      COMMENT ON COLUMN wallet_sessions.created_at IS 'When the row was made.';
      COMMENT ON COLUMN wallet_sessions.rotated_at IS 'When the token was last exchanged.';
      COMMENT ON COLUMN wallet_sessions.used_at IS 'When it was last used.';
      COMMENT ON COLUMN wallet_sessions.expires_at IS 'When it ends at the latest.';
      COMMENT ON COLUMN wallet_sessions.ended_at IS 'When it was signed out or ended.';
    END $$`

  yield* sql`
    CREATE TABLE used_nonces (
      nonce text COLLATE "C" PRIMARY KEY,
      expires_at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX used_nonces_over ON used_nonces (expires_at)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE used_nonces IS 'Nonces of sign-in messages that were used, until their own time is over.';
      COMMENT ON COLUMN used_nonces.nonce IS 'Nonce of the message.';
      COMMENT ON COLUMN used_nonces.expires_at IS 'When the message expires, and with it this row.';
    END $$`

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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE idempotency_keys IS 'Requests that clients named, and what was answered to them.';
      COMMENT ON COLUMN idempotency_keys.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN idempotency_keys.route IS 'Method and path of the route.';
      COMMENT ON COLUMN idempotency_keys.key IS 'Name that the client gave the request.';
      COMMENT ON COLUMN idempotency_keys.fingerprint IS
        'Hash of the request: another request under the same name is refused.';
      COMMENT ON COLUMN idempotency_keys.claim_id IS 'Request that is working on it, or did.';
      COMMENT ON COLUMN idempotency_keys.claimed_until IS 'Until when others wait for that request.';
      COMMENT ON COLUMN idempotency_keys.created_at IS 'When the row was made.';
      COMMENT ON COLUMN idempotency_keys.status IS 'HTTP status of the answer. Null: not answered yet.';
      COMMENT ON COLUMN idempotency_keys.answer IS 'Sealed answer, as it may hold a secret that is shown once.';
    END $$`
})
