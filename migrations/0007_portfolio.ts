/** Portfolios, their accounts, what owners signed for them, and their schedules. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE portfolios (
      portfolio_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      strategy_id text COLLATE "C" NOT NULL REFERENCES strategies,
      owner_account_id text COLLATE "C" NOT NULL,
      name text,
      account_index numeric(78, 0) NOT NULL,
      account_ids text[] NOT NULL,
      strategy_version integer NOT NULL,
      last_rebalance_at timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      archived_at timestamptz(3),
      revoked_at timestamptz(3),
      closed_routes jsonb NOT NULL DEFAULT '[]',
      guarded_account_ids text[] NOT NULL DEFAULT '{}',
      permission_ends_at timestamptz(3),
      external_id text COLLATE "C",
      metadata jsonb NOT NULL DEFAULT '{}',
      wallet_role_id integer
    )`
  yield* sql`
    CREATE UNIQUE INDEX portfolios_one_live_per_owner ON portfolios (tenant_id, strategy_id, owner_account_id)
    WHERE archived_at IS NULL`
  yield* sql`
    CREATE INDEX portfolios_of_tenant ON portfolios (tenant_id, created_at DESC, portfolio_id DESC)
    WHERE archived_at IS NULL`
  yield* sql`
    CREATE INDEX portfolios_of_owner ON portfolios (tenant_id, owner_account_id, created_at DESC, portfolio_id DESC)
    WHERE archived_at IS NULL`
  yield* sql`
    CREATE INDEX portfolios_of_strategy ON portfolios (tenant_id, strategy_id, created_at DESC, portfolio_id DESC)
    WHERE archived_at IS NULL`
  yield* sql`CREATE INDEX portfolios_following ON portfolios (strategy_id, portfolio_id) WHERE archived_at IS NULL`
  yield* sql`
    CREATE INDEX portfolios_under_old_permissions ON portfolios (tenant_id, created_at DESC, portfolio_id DESC)
    WHERE archived_at IS NULL AND NOT (account_ids <@ guarded_account_ids)`
  yield* sql`CREATE INDEX portfolios_of_wallet ON portfolios (owner_account_id, portfolio_id)`
  yield* sql`
    CREATE UNIQUE INDEX portfolios_by_external_id ON portfolios (tenant_id, external_id)
    WHERE external_id IS NOT NULL AND archived_at IS NULL`
  // What names a strategy is queried whenever one goes.
  yield* sql`CREATE INDEX portfolios_naming ON portfolios (strategy_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE portfolios IS
        'Portfolios. A row contains its account ids, so that reading one touches no further table.';
      COMMENT ON COLUMN portfolios.portfolio_id IS 'Id: pf_ and a ULID.';
      COMMENT ON COLUMN portfolios.tenant_id IS 'Tenant that enrolled it.';
      COMMENT ON COLUMN portfolios.strategy_id IS 'Strategy that it follows.';
      COMMENT ON COLUMN portfolios.owner_account_id IS 'Wallet of its owner, CAIP-10.';
      COMMENT ON COLUMN portfolios.name IS 'Name for people.';
      COMMENT ON COLUMN portfolios.account_index IS 'Salt of its accounts'' addresses, the same on every chain.';
      COMMENT ON COLUMN portfolios.account_ids IS 'Its accounts, CAIP-10.';
      COMMENT ON COLUMN portfolios.strategy_version IS 'Version that its last rebalance followed.';
      COMMENT ON COLUMN portfolios.last_rebalance_at IS 'When a rebalance last traded.';
      COMMENT ON COLUMN portfolios.created_at IS 'When the row was made.';
      COMMENT ON COLUMN portfolios.updated_at IS 'When it last changed.';
      COMMENT ON COLUMN portfolios.archived_at IS 'When it was archived.';
      COMMENT ON COLUMN portfolios.revoked_at IS 'Since when the owner''s permission is revoked. Null: it is not.';
      COMMENT ON COLUMN portfolios.closed_routes IS 'Routes between chains on which its last runs could not send.';
      COMMENT ON COLUMN portfolios.guarded_account_ids IS
        'Its accounts under the trade guard, by the latest grant of each chain. Kept by a trigger.';
      COMMENT ON COLUMN portfolios.permission_ends_at IS
        'When the first of its permissions runs out. Null: none has an end. Kept by a trigger.';
      COMMENT ON COLUMN portfolios.external_id IS
        'Id that the integrator gave it, unique among those of the tenant that are not archived.';
      COMMENT ON COLUMN portfolios.metadata IS 'Key-value pairs of the integrator.';
      COMMENT ON COLUMN portfolios.wallet_role_id IS 'Role of the agent in the owner''s wallet, on Solana.';
    END $$`

  yield* sql`
    CREATE TABLE smart_accounts (
      account_id text COLLATE "C" PRIMARY KEY,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios
    )`
  yield* sql`CREATE INDEX smart_accounts_of_portfolio ON smart_accounts (portfolio_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE smart_accounts IS 'Accounts of portfolios: an account belongs to one.';
      COMMENT ON COLUMN smart_accounts.account_id IS 'Account, CAIP-10.';
      COMMENT ON COLUMN smart_accounts.portfolio_id IS 'Portfolio.';
    END $$`

  yield* sql`
    CREATE TABLE grants (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      sequence integer NOT NULL,
      authorization_document jsonb NOT NULL,
      owner_signature text NOT NULL,
      granted_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, sequence)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE grants IS 'What owners signed for the agent, one row for each signature.';
      COMMENT ON COLUMN grants.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN grants.sequence IS 'Number of the grant in its portfolio, from 1.';
      COMMENT ON COLUMN grants.authorization_document IS 'What was authorized, by chain.';
      COMMENT ON COLUMN grants.owner_signature IS 'Signature of the owner, hex.';
      COMMENT ON COLUMN grants.granted_at IS 'When it was accepted.';
    END $$`
  // Kept by the grants themselves, whoever writes them.
  yield* sql`
    CREATE FUNCTION note_guarded_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE portfolios SET guarded_account_ids = ARRAY(
        SELECT id FROM unnest(guarded_account_ids) AS id
        WHERE id NOT IN (SELECT chain ->> 'accountId'
        FROM jsonb_array_elements(NEW.authorization_document -> 'chains') AS chain)
        UNION ALL
        SELECT chain ->> 'accountId' FROM jsonb_array_elements(NEW.authorization_document -> 'chains') AS chain
        WHERE chain -> 'policy' -> 'guard' IS NOT NULL
      )
      WHERE portfolio_id = NEW.portfolio_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER grants_note_guarded_accounts AFTER INSERT ON grants
    FOR EACH ROW EXECUTE FUNCTION note_guarded_accounts()`
  yield* sql`
    CREATE FUNCTION first_permission_end(wanted text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
      SELECT to_timestamp(min(latest.valid_until)) FROM (
        SELECT DISTINCT ON (chain ->> 'accountId')
          (chain -> 'policy' -> 'guard' ->> 'validUntil')::bigint AS valid_until
        FROM grants g, jsonb_array_elements(g.authorization_document -> 'chains') AS chain
        WHERE g.portfolio_id = wanted
        ORDER BY chain ->> 'accountId', g.sequence DESC
      ) AS latest
    $$`
  yield* sql`
    CREATE FUNCTION note_permission_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE portfolios SET permission_ends_at = first_permission_end(NEW.portfolio_id)
      WHERE portfolio_id = NEW.portfolio_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER grants_note_permission_end AFTER INSERT ON grants
    FOR EACH ROW EXECUTE FUNCTION note_permission_end()`

  yield* sql`
    CREATE TABLE schedules (
      portfolio_id text COLLATE "C" PRIMARY KEY REFERENCES portfolios,
      tenant_id text COLLATE "C" NOT NULL,
      status text NOT NULL CHECK (status IN ('active', 'paused')),
      due_at timestamptz(3) NOT NULL,
      portfolio_created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      checked_at timestamptz(3),
      strategy_id text COLLATE "C" NOT NULL,
      retries integer NOT NULL DEFAULT 0,
      slices_until timestamptz(3),
      pause_note text
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`CREATE INDEX schedules_due ON schedules (due_at, portfolio_id) WHERE status = 'active'`
  yield* sql`
    CREATE INDEX schedules_of_tenant ON schedules (tenant_id, status, portfolio_created_at DESC, portfolio_id DESC)`
  // Claims go from tenant to tenant when more is due than is worked on.
  yield* sql`
    CREATE INDEX schedules_due_of_tenant ON schedules (tenant_id, due_at, portfolio_id) WHERE status = 'active'`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE schedules IS 'When portfolios are due. Rows are narrow, as claims rewrite them all the time.';
      COMMENT ON COLUMN schedules.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN schedules.tenant_id IS 'Tenant of the portfolio.';
      COMMENT ON COLUMN schedules.status IS 'Whether the automation acts.';
      COMMENT ON COLUMN schedules.due_at IS 'When it is due next.';
      COMMENT ON COLUMN schedules.portfolio_created_at IS
        'When the portfolio was created, which lists by status are sorted by.';
      COMMENT ON COLUMN schedules.updated_at IS 'When it was last scheduled, started or paused.';
      COMMENT ON COLUMN schedules.checked_at IS 'When its drift was last checked.';
      COMMENT ON COLUMN schedules.strategy_id IS 'Strategy of the portfolio, which never changes.';
      COMMENT ON COLUMN schedules.retries IS
        'Runs in a row that could not read, quote or send everything; the next comes the later for it.';
      COMMENT ON COLUMN schedules.slices_until IS
        'When it is due without the slices that are made before. Null: it trades in none.';
      COMMENT ON COLUMN schedules.pause_note IS 'What whoever stopped the automation said of why.';
    END $$`

  yield* sql`
    CREATE TABLE portfolio_metadata (
      tenant_id text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text COLLATE "C" NOT NULL,
      created_at timestamptz(3) NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios ON DELETE CASCADE,
      PRIMARY KEY (tenant_id, key, value, created_at, portfolio_id)
    )`
  yield* sql`CREATE INDEX portfolio_metadata_of ON portfolio_metadata (portfolio_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE portfolio_metadata IS
        'Entries of the key-value pairs of portfolios, in the order of lists. Kept by triggers.';
      COMMENT ON COLUMN portfolio_metadata.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN portfolio_metadata.key IS 'Key of the pair.';
      COMMENT ON COLUMN portfolio_metadata.value IS 'Value of the pair.';
      COMMENT ON COLUMN portfolio_metadata.created_at IS 'When the portfolio was created, which lists are sorted by.';
      COMMENT ON COLUMN portfolio_metadata.portfolio_id IS 'Portfolio.';
    END $$`
  yield* sql`
    CREATE FUNCTION enter_portfolio_metadata() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM portfolio_metadata WHERE portfolio_id = NEW.portfolio_id;
      INSERT INTO portfolio_metadata (tenant_id, key, value, created_at, portfolio_id)
      SELECT NEW.tenant_id, e.key, e.value, NEW.created_at, NEW.portfolio_id FROM jsonb_each_text(NEW.metadata) e;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER portfolios_begin_with_metadata AFTER INSERT ON portfolios
    FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION enter_portfolio_metadata()`
  yield* sql`
    CREATE TRIGGER portfolios_change_metadata AFTER UPDATE OF metadata ON portfolios
    FOR EACH ROW WHEN (NEW.metadata <> OLD.metadata) EXECUTE FUNCTION enter_portfolio_metadata()`
})
