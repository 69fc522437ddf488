/** Actions that owners ask for; the client's id of a request counts within its portfolio. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE actions (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      request_id text COLLATE "C",
      request_hash bytea NOT NULL,
      correlation_id text COLLATE "C" NOT NULL,
      order_document jsonb NOT NULL,
      outcome jsonb
    )`
  yield* sql`CREATE UNIQUE INDEX actions_of_request ON actions (portfolio_id, request_id) WHERE request_id IS NOT NULL`
})
