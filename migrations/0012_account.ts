/** Signatures that runs wait for. */
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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE required_signatures IS 'Chains on which a run waits for a new signature of the owner.';
      COMMENT ON COLUMN required_signatures.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN required_signatures.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN required_signatures.operation_id IS 'Run that waits.';
      COMMENT ON COLUMN required_signatures.permission_id IS 'Permission that the chain refused.';
      COMMENT ON COLUMN required_signatures.cause IS 'Why it was refused.';
      COMMENT ON COLUMN required_signatures.required_at IS 'Since when it is required.';
    END $$`

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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON VIEW awaited_signatures IS
        'Required signatures of which the latest grant of the chain is still the refused one.';
    END $$`
})
