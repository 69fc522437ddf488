/**
 * Owners' words that end the agent's permissions, and since when a portfolio is revoked. A portfolio has one flow at
 * most that nobody signed; a later one takes its place. A flow of enrollment may authorize anew what is authorized
 * already.
 */
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
  yield* sql`ALTER TABLE portfolios ADD COLUMN revoked_at timestamptz(3)`
  yield* sql`ALTER TABLE enrollment_flows ADD COLUMN is_renewal boolean NOT NULL DEFAULT false`
})
