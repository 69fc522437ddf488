/**
 * Repeats a portfolio's strategy, which never changes, beside its schedule, so that claims need no row of the
 * portfolio.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedules ADD COLUMN strategy_id text COLLATE "C"`
  yield* sql`
    UPDATE schedules c SET strategy_id = p.strategy_id FROM portfolios p WHERE p.portfolio_id = c.portfolio_id`
  yield* sql`ALTER TABLE schedules ALTER COLUMN strategy_id SET NOT NULL`
})
