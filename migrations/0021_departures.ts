/**
 * What is about to leave a chain: written before it is sent, gone when the ledger has it or when it did not leave. In
 * between the chain itself says whether it has.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE departures (
      run_id text COLLATE "C" NOT NULL REFERENCES operations,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      account_id text COLLATE "C" NOT NULL,
      subject text NOT NULL,
      from_block numeric(78, 0) NOT NULL,
      transfers jsonb NOT NULL,
      announced_at timestamptz(3) NOT NULL,
      PRIMARY KEY (run_id, chain_id, attempt)
    )`
  yield* sql`CREATE INDEX departures_of_portfolio ON departures (portfolio_id)`
})
