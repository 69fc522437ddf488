/**
 * Withdrawals that were accepted, and the claims by which each nonce of a tenant is accepted once. A claim without an
 * operation is held by a request that is being answered; one that is refused leaves no row.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE withdrawals (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      account_id text COLLATE "C" NOT NULL,
      nonce text COLLATE "C" NOT NULL,
      message jsonb NOT NULL,
      signature text NOT NULL,
      accepted_at_block numeric(78, 0) NOT NULL,
      outcome jsonb,
      created_at timestamptz(3) NOT NULL,
      UNIQUE (tenant_id, nonce)
    )`
  yield* sql`CREATE INDEX withdrawals_of_portfolio ON withdrawals (portfolio_id, created_at DESC)`
  yield* sql`
    CREATE TABLE withdrawal_claims (
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      nonce text COLLATE "C" NOT NULL,
      request_hash bytea NOT NULL,
      lease_until timestamptz(3) NOT NULL,
      operation_id text COLLATE "C" REFERENCES operations,
      PRIMARY KEY (tenant_id, nonce)
    )`
})
