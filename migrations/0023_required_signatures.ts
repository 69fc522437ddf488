/**
 * Chains on which a run waits for a new signature of the owner. A run that does nothing but wait leaves its portfolio
 * free for other runs, so it is not the one unfinished run that a portfolio may have.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE required_signatures (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      chain_id bigint NOT NULL,
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      permission_id text NOT NULL,
      cause text NOT NULL,
      required_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, chain_id)
    )`
  yield* sql`CREATE INDEX required_signatures_of_operation ON required_signatures (operation_id)`
  // What was refused is waited for until the latest grant that names the chain is another one.
  yield* sql`
    CREATE VIEW awaited_signatures AS
    SELECT r.portfolio_id, r.chain_id, r.operation_id FROM required_signatures r
    WHERE r.permission_id = (
      SELECT chain ->> 'permissionId' FROM grants g
      CROSS JOIN jsonb_array_elements(g.authorization_document -> 'chains') AS chain
      WHERE g.portfolio_id = r.portfolio_id AND (chain ->> 'chainId')::bigint = r.chain_id
      ORDER BY g.sequence DESC LIMIT 1
    )`
  yield* sql`DROP INDEX operations_one_unfinished_rebalance`
  yield* sql`
    CREATE UNIQUE INDEX operations_one_unfinished_rebalance ON operations (portfolio_id)
    WHERE kind = 'rebalance' AND finished_at IS NULL AND state <> 'awaiting_user'`
})
