/** Revocations of the agent''s permissions. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE revocations (
      flow_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      document jsonb NOT NULL,
      signature text,
      operation_id text COLLATE "C" UNIQUE REFERENCES operations,
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      CHECK ((signature IS NULL) = (operation_id IS NULL))
    )`
  yield* sql`CREATE UNIQUE INDEX revocations_unsigned ON revocations (portfolio_id) WHERE operation_id IS NULL`
  yield* sql`CREATE INDEX revocations_of_portfolio ON revocations (portfolio_id) WHERE operation_id IS NOT NULL`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE revocations IS
        'Flows of revocation. A portfolio has one at most that nobody signed; a later one takes its place.';
      COMMENT ON COLUMN revocations.flow_id IS 'Id: flow_ and a ULID.';
      COMMENT ON COLUMN revocations.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN revocations.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN revocations.document IS 'What the owner is asked to sign.';
      COMMENT ON COLUMN revocations.signature IS 'Signature of the owner. Null: not signed.';
      COMMENT ON COLUMN revocations.operation_id IS 'Operation that carries it out. Null: not signed.';
      COMMENT ON COLUMN revocations.created_at IS 'When the row was made.';
      COMMENT ON COLUMN revocations.expires_at IS 'When it may no longer be signed.';
    END $$`
})
