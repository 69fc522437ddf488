/**
 * When drift is worth a trade: the policy of a strategy, and what its tenant's portfolios follow where it has none.
 * Null: every deviation of the threshold is traded to the target, as before.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE strategies ADD COLUMN rebalance_policy jsonb`
  yield* sql`ALTER TABLE tenants ADD COLUMN rebalance_policy jsonb`
})
