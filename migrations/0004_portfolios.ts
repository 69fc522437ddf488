/**
 * Portfolios, their smart accounts, and their schedules.
 *
 * A portfolio carries its account ids so that reading one touches no further table; `smart_accounts` is what
 * guarantees that an account belongs to one portfolio. Schedules are narrow because claiming rewrites their rows all
 * the time; the creation time is repeated there so that a list by status is one index walk.
 */
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
      authorization_document jsonb NOT NULL,
      owner_signature text NOT NULL,
      strategy_version integer NOT NULL,
      last_rebalance_at timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      archived_at timestamptz(3)
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
  yield* sql`
    CREATE TABLE smart_accounts (
      account_id text COLLATE "C" PRIMARY KEY,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios
    )`
  yield* sql`CREATE INDEX smart_accounts_of_portfolio ON smart_accounts (portfolio_id)`
  yield* sql`
    CREATE TABLE schedules (
      portfolio_id text COLLATE "C" PRIMARY KEY REFERENCES portfolios,
      tenant_id text COLLATE "C" NOT NULL,
      status text NOT NULL CHECK (status IN ('active', 'paused')),
      due_at timestamptz(3) NOT NULL,
      portfolio_created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`
  yield* sql`CREATE INDEX schedules_due ON schedules (due_at, portfolio_id) WHERE status = 'active'`
  yield* sql`
    CREATE INDEX schedules_of_tenant ON schedules (tenant_id, status, portfolio_created_at DESC, portfolio_id DESC)`
})
