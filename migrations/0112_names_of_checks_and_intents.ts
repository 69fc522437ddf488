/**
 * Tables by the words of the field: drift checks (were looks) and transfer intents (were departures).
 *
 * The old names stay as views, through which processes of before go on reading and writing during a rolling upgrade; a
 * later migration drops them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE schedule_looks RENAME TO drift_checks`
  yield* sql`ALTER TABLE drift_checks RENAME COLUMN look_id TO check_id`
  yield* sql`
    CREATE VIEW schedule_looks AS
    SELECT check_id AS look_id, tenant_id, first_due_at, first_portfolio_id, last_due_at, last_portfolio_id, until
    FROM drift_checks`
  yield* sql`ALTER TABLE departures RENAME TO transfer_intents`
  yield* sql`ALTER INDEX departures_of_portfolio RENAME TO transfer_intents_of_portfolio`
  yield* sql`CREATE VIEW departures AS SELECT * FROM transfer_intents`
})
