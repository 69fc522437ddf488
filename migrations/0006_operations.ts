/**
 * Operations and their histories. `last_sequence` numbers the events: whoever appends one updates the operation first,
 * so its row lock puts concurrent writers in line.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE operations (
      operation_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      kind text NOT NULL,
      trigger text NOT NULL,
      state text NOT NULL,
      submitted_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      finished_at timestamptz(3),
      error text,
      last_sequence integer NOT NULL,
      CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'failed', 'cancelled')))
    )`
  yield* sql`
    CREATE UNIQUE INDEX operations_one_unfinished_rebalance ON operations (portfolio_id)
    WHERE kind = 'rebalance' AND finished_at IS NULL`
  yield* sql`
    CREATE INDEX operations_manual ON operations (portfolio_id, submitted_at DESC)
    WHERE kind = 'rebalance' AND trigger = 'manual'`
  yield* sql`CREATE INDEX operations_accepted ON operations (submitted_at, operation_id) WHERE state = 'accepted'`
  yield* sql`
    CREATE TABLE operation_events (
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      sequence integer NOT NULL,
      at timestamptz(3) NOT NULL,
      kind text NOT NULL,
      payload jsonb NOT NULL,
      PRIMARY KEY (operation_id, sequence)
    )`
})
