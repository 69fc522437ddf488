/**
 * A portfolio may hold several grants of its owner, one for each signature; and what the relayer carries is no longer
 * only user operations, so its records bear the name of what they are.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
    INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
    SELECT portfolio_id, 1, authorization_document, owner_signature, created_at FROM portfolios`
  yield* sql`ALTER TABLE portfolios DROP COLUMN authorization_document, DROP COLUMN owner_signature`
  yield* sql`ALTER TABLE user_operations RENAME TO relayed_transactions`
  yield* sql`ALTER TABLE relayed_transactions RENAME COLUMN user_op_hash TO subject`
})
