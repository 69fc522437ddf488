/**
 * Changes of cadence that have not reached every due time yet: they are moved in batches, in the order of portfolio
 * ids. An empty tenant means all that follow the strategy.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE cadence_changes (
      strategy_id text COLLATE "C" NOT NULL REFERENCES strategies,
      tenant_id text COLLATE "C" NOT NULL,
      after_portfolio_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (strategy_id, tenant_id)
    )`
  yield* sql`DROP INDEX portfolios_following`
  yield* sql`
    CREATE INDEX portfolios_following ON portfolios (strategy_id, portfolio_id) WHERE archived_at IS NULL`
})
