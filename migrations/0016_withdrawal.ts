/** Withdrawals that owners signed. */
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
    DO $$ BEGIN
      COMMENT ON TABLE withdrawals IS 'Withdrawals that were accepted.';
      COMMENT ON COLUMN withdrawals.operation_id IS 'Operation.';
      COMMENT ON COLUMN withdrawals.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN withdrawals.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN withdrawals.account_id IS 'Account that pays, CAIP-10.';
      COMMENT ON COLUMN withdrawals.nonce IS 'Nonce of the message, accepted once in a tenant.';
      COMMENT ON COLUMN withdrawals.message IS 'What the owner signed.';
      COMMENT ON COLUMN withdrawals.signature IS 'Signature of the owner.';
      COMMENT ON COLUMN withdrawals.accepted_at_block IS 'Block, or slot on Solana, at which it was accepted.';
      COMMENT ON COLUMN withdrawals.outcome IS 'What became of it.';
      COMMENT ON COLUMN withdrawals.created_at IS 'When the row was made.';
    END $$`

  yield* sql`
    CREATE TABLE withdrawal_claims (
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      nonce text COLLATE "C" NOT NULL,
      request_hash bytea NOT NULL,
      lease_until timestamptz(3) NOT NULL,
      operation_id text COLLATE "C" REFERENCES operations,
      PRIMARY KEY (tenant_id, nonce)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE withdrawal_claims IS 'Claims by which each nonce is accepted once. A refused one leaves no row.';
      COMMENT ON COLUMN withdrawal_claims.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN withdrawal_claims.nonce IS 'Nonce of the message.';
      COMMENT ON COLUMN withdrawal_claims.request_hash IS 'Hash of the request.';
      COMMENT ON COLUMN withdrawal_claims.lease_until IS
        'Until when the request that is being answered holds the claim.';
      COMMENT ON COLUMN withdrawal_claims.operation_id IS
        'Operation that was accepted. Null: a request is being answered.';
    END $$`
})
