/**
 * Addresses to which the events of a tenant are sent, and what became of each. `cursor` is the last event of the
 * tenant's log that was read for a webhook; it moves in the transaction that writes the deliveries, so none is lost and
 * none is written twice.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE webhooks (
      webhook_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL REFERENCES tenants,
      url text NOT NULL,
      description text,
      event_types text[],
      secret bytea NOT NULL,
      previous_secret bytea,
      previous_until timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      cursor bigint NOT NULL,
      failures integer NOT NULL DEFAULT 0,
      failing_since timestamptz(3),
      rests_until timestamptz(3),
      served_at timestamptz(3),
      claim_id text COLLATE "C",
      claimed_until timestamptz(3),
      disabled_at timestamptz(3),
      disabled_reason text,
      disabled_detail text
    )`
  yield* sql`CREATE INDEX webhooks_of_tenant ON webhooks (tenant_id, created_at DESC, webhook_id DESC)`
  yield* sql`CREATE INDEX webhooks_to_serve ON webhooks (served_at NULLS FIRST, webhook_id) WHERE disabled_at IS NULL`
  yield* sql`
    CREATE TABLE webhook_deliveries (
      place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      delivery_id text COLLATE "C" NOT NULL UNIQUE,
      webhook_id text COLLATE "C" NOT NULL,
      sequence bigint,
      type text NOT NULL,
      body text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      due_at timestamptz(3),
      attempts integer NOT NULL DEFAULT 0,
      first_attempt_at timestamptz(3),
      last_attempt_at timestamptz(3),
      last_status integer,
      last_problem text,
      delivered_at timestamptz(3),
      failed_at timestamptz(3)
    )`
  yield* sql`CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook_id, place DESC)`
  yield* sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, place) WHERE due_at IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (webhook_id, sequence) WHERE sequence IS NOT NULL`
  yield* sql`CREATE INDEX webhook_deliveries_old ON webhook_deliveries (created_at)`
})
