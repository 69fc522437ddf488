/** Due schedules of one tenant, so that claims can go from tenant to tenant when more is due than is worked on. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE INDEX schedules_due_of_tenant ON schedules (tenant_id, due_at, portfolio_id) WHERE status = 'active'`
})
