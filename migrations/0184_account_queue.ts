/**
 * Which operation acts for a portfolio's account on a chain, and which wait for it. A row of an operation that has
 * ended counts no more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE account_turns (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      chain_id bigint NOT NULL,
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      PRIMARY KEY (portfolio_id, chain_id)
    )`
  yield* sql`
    CREATE TABLE account_waits (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      chain_id bigint NOT NULL,
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      urgency smallint NOT NULL,
      PRIMARY KEY (portfolio_id, chain_id, operation_id)
    )`
})
