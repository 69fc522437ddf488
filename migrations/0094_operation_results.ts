/**
 * What an operation did, beside its terminal state; those that ended before have none. Lists of operations are read by
 * time, newest first: of a tenant and of a portfolio, each also by kind and by state. What is not finished is few.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE operations ADD COLUMN outcome text, ADD COLUMN reason text, ADD COLUMN result jsonb`
  yield* sql`CREATE INDEX operations_of_tenant ON operations (tenant_id, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_of_portfolio ON operations (portfolio_id, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_of_kind ON operations (tenant_id, kind, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_in_state ON operations (tenant_id, state, submitted_at DESC, operation_id DESC)`
})
