/** Webhooks and what is delivered to them. */
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
      former_secrets jsonb NOT NULL DEFAULT '[]',
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
    DO $$ BEGIN
      COMMENT ON TABLE webhooks IS 'Addresses to which events of a tenant are sent.';
      COMMENT ON COLUMN webhooks.webhook_id IS 'Id: wh_ and a ULID.';
      COMMENT ON COLUMN webhooks.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN webhooks.url IS 'Address, https.';
      COMMENT ON COLUMN webhooks.description IS 'What it is for, for people.';
      COMMENT ON COLUMN webhooks.event_types IS 'Types that are sent. Null: all.';
      COMMENT ON COLUMN webhooks.secret IS 'Sealed secret that signs deliveries.';
      COMMENT ON COLUMN webhooks.former_secrets IS
        'Sealed secrets that rotations replaced and that still sign, newest first: [{secret (hex), until (ISO 8601)}].';
      COMMENT ON COLUMN webhooks.created_at IS 'When the row was made.';
      COMMENT ON COLUMN webhooks.cursor IS
        'Last event of the log that was read for it; it moves in the commit that writes the deliveries.';
      COMMENT ON COLUMN webhooks.failures IS 'Failures in a row.';
      COMMENT ON COLUMN webhooks.failing_since IS 'Since when all fail. Null: the last one succeeded.';
      COMMENT ON COLUMN webhooks.rests_until IS 'Until when nothing is sent after failures.';
      COMMENT ON COLUMN webhooks.served_at IS 'When a process last served it.';
      COMMENT ON COLUMN webhooks.claim_id IS 'Process that serves it.';
      COMMENT ON COLUMN webhooks.claimed_until IS 'Until when others leave it to that process.';
      COMMENT ON COLUMN webhooks.disabled_at IS 'When it was disabled.';
      COMMENT ON COLUMN webhooks.disabled_reason IS 'Why it was disabled.';
      COMMENT ON COLUMN webhooks.disabled_detail IS 'What there is to say of it.';
    END $$`

  yield* sql`
    CREATE TABLE webhook_deliveries (
      position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
  yield* sql`CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook_id, position DESC)`
  yield* sql`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, position) WHERE due_at IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (webhook_id, sequence) WHERE sequence IS NOT NULL`
  yield* sql`CREATE INDEX webhook_deliveries_old ON webhook_deliveries (created_at)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE webhook_deliveries IS 'Events that are delivered, and what became of each.';
      COMMENT ON COLUMN webhook_deliveries.position IS 'Order of delivery.';
      COMMENT ON COLUMN webhook_deliveries.delivery_id IS 'Id: whd_ and a ULID.';
      COMMENT ON COLUMN webhook_deliveries.webhook_id IS 'Webhook.';
      COMMENT ON COLUMN webhook_deliveries.sequence IS 'Event of the tenant''s log. Null: a test.';
      COMMENT ON COLUMN webhook_deliveries.type IS 'Type of the event.';
      COMMENT ON COLUMN webhook_deliveries.body IS 'Body that is sent.';
      COMMENT ON COLUMN webhook_deliveries.created_at IS 'When the row was made.';
      COMMENT ON COLUMN webhook_deliveries.due_at IS 'When it is sent next. Null: it is done.';
      COMMENT ON COLUMN webhook_deliveries.attempts IS 'How often it was sent.';
      COMMENT ON COLUMN webhook_deliveries.first_attempt_at IS 'When it was first sent.';
      COMMENT ON COLUMN webhook_deliveries.last_attempt_at IS 'When it was last sent.';
      COMMENT ON COLUMN webhook_deliveries.last_status IS 'HTTP status of the last answer.';
      COMMENT ON COLUMN webhook_deliveries.last_problem IS 'Why the last try failed.';
      COMMENT ON COLUMN webhook_deliveries.delivered_at IS 'When it was accepted.';
      COMMENT ON COLUMN webhook_deliveries.failed_at IS 'When it was given up.';
    END $$`
})
