/** Enrollments between their two stages. */
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
    DO $$ BEGIN
      COMMENT ON TABLE owner_indexes IS 'Account index that the next portfolio of each owner gets.';
      COMMENT ON COLUMN owner_indexes.owner_account_id IS 'Wallet of the owner, CAIP-10.';
      COMMENT ON COLUMN owner_indexes.next_index IS 'Index that was not given yet.';
    END $$`

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
      expires_at timestamptz(3) NOT NULL,
      portfolio_id text COLLATE "C" REFERENCES portfolios,
      is_renewal boolean NOT NULL DEFAULT false,
      sub_account jsonb
    )`
  yield* sql`CREATE INDEX enrollment_flows_by_expiry ON enrollment_flows (expires_at)`
  // What names a strategy is queried whenever one goes.
  yield* sql`CREATE INDEX enrollment_flows_naming ON enrollment_flows (strategy_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE enrollment_flows IS
        'Enrollments that were begun: what stage 1 issued, and what stage 2 answered.';
      COMMENT ON COLUMN enrollment_flows.flow_id IS 'Id: flow_ and a ULID.';
      COMMENT ON COLUMN enrollment_flows.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN enrollment_flows.strategy_id IS 'Strategy of the portfolio.';
      COMMENT ON COLUMN enrollment_flows.authorization_document IS 'What the owner is asked to sign.';
      COMMENT ON COLUMN enrollment_flows.request_hash IS 'Hash of the request of stage 2. Null: none came yet.';
      COMMENT ON COLUMN enrollment_flows.lease_until IS 'Until when the request that is being answered holds the flow.';
      COMMENT ON COLUMN enrollment_flows.outcome IS 'What stage 2 answered. Null: nothing yet.';
      COMMENT ON COLUMN enrollment_flows.created_at IS 'When the row was made.';
      COMMENT ON COLUMN enrollment_flows.expires_at IS 'When it may no longer be completed.';
      COMMENT ON COLUMN enrollment_flows.portfolio_id IS 'Portfolio that gets more chains. Null: a new one is made.';
      COMMENT ON COLUMN enrollment_flows.is_renewal IS 'Whether it authorizes anew what is authorized already.';
      COMMENT ON COLUMN enrollment_flows.sub_account IS 'What stage 1 issued beside the authorization, on Solana.';
    END $$`

  yield* sql`
    CREATE TABLE sub_account_attempts (
      flow_id text COLLATE "C" NOT NULL REFERENCES enrollment_flows ON DELETE CASCADE,
      number integer NOT NULL CHECK (number >= 1),
      owner_signature text NOT NULL,
      signed text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (flow_id, number)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE sub_account_attempts IS
        'Signed transactions of enrollments on Solana, written before they are sent. They go with their flows.';
      COMMENT ON COLUMN sub_account_attempts.flow_id IS 'Flow.';
      COMMENT ON COLUMN sub_account_attempts.number IS 'Number of the attempt, from 1.';
      COMMENT ON COLUMN sub_account_attempts.owner_signature IS 'Signature of the owner, base58.';
      COMMENT ON COLUMN sub_account_attempts.signed IS 'Signed transaction, base64.';
      COMMENT ON COLUMN sub_account_attempts.created_at IS 'When the row was made.';
    END $$`
})
