/** Requests that were refused or failed. */
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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE refused_requests IS 'Requests of tenants that were refused or failed, for seven days.';
      COMMENT ON COLUMN refused_requests.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN refused_requests.at IS 'When it was answered.';
      COMMENT ON COLUMN refused_requests.request_id IS 'Id of the request.';
      COMMENT ON COLUMN refused_requests.correlation_id IS 'Id by which the client follows it.';
      COMMENT ON COLUMN refused_requests.api_key_id IS 'Key that sent it.';
      COMMENT ON COLUMN refused_requests.method IS 'HTTP method, or RPC.';
      COMMENT ON COLUMN refused_requests.route IS 'Route, or procedure.';
      COMMENT ON COLUMN refused_requests.status IS 'HTTP status of the answer.';
      COMMENT ON COLUMN refused_requests.code IS 'Code of the error.';
      COMMENT ON COLUMN refused_requests.message IS 'Message of the error.';
      COMMENT ON COLUMN refused_requests.milliseconds IS 'How long the answer took, milliseconds.';
    END $$`
})
