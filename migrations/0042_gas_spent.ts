/**
 * Gas that the service paid for, by UTC day: a row a portfolio, and one a tenant, whose portfolio is the empty text.
 * Written with the receipt that shows it, once.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE gas_spent (
      tenant_id text COLLATE "C" NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL,
      day date NOT NULL,
      gas numeric(78, 0) NOT NULL,
      PRIMARY KEY (tenant_id, day, portfolio_id)
    )`
})
