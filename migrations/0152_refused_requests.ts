/** Requests of a tenant that were refused or failed, for seven days. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE refused_requests (
      tenant_id text COLLATE "C" NOT NULL,
      at timestamptz(3) NOT NULL,
      request_id text COLLATE "C" NOT NULL,
      correlation_id text COLLATE "C" NOT NULL,
      api_key_id text COLLATE "C" NOT NULL,
      method text NOT NULL,
      route text NOT NULL,
      status integer NOT NULL,
      code text COLLATE "C",
      message text,
      milliseconds double precision NOT NULL,
      PRIMARY KEY (tenant_id, at, request_id)
    )`
  yield* sql`CREATE INDEX refused_requests_by_code ON refused_requests (tenant_id, code, at, request_id)`
  yield* sql`CREATE INDEX refused_requests_by_key ON refused_requests (tenant_id, api_key_id, at, request_id)`
  yield* sql`CREATE INDEX refused_requests_old ON refused_requests (at)`
})
