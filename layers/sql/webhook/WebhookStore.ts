/** Webhooks and the log of their deliveries in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/values/Cursor.ts"
import { DeliveryId, TenantId, WebhookId } from "#domain/values/Ids.ts"
import { DisabledReason, EventType, signingAt, testType, type Webhook } from "#domain/webhook/Webhook.ts"
import { type NewSecret, type NewWebhook, type TestMessage, WebhookStore } from "#domain/webhook/WebhookStore.ts"
import { FormerSecrets, formerSecretsJson } from "#layers/sql/webhook/formerSecrets.ts"
import { decodeFirst, decodeRows, SmallBigint, Timestamp, timestamp } from "#layers/sql/rows.ts"

const WebhookRow = Schema.Struct({
  webhookId: WebhookId,
  tenantId: TenantId,
  url: Schema.String,
  description: Schema.NullOr(Schema.String),
  eventTypes: Schema.NullOr(Schema.Array(EventType)),
  createdAt: Timestamp,
  previousSecretUntil: Schema.NullOr(Timestamp),
  failingSince: Schema.NullOr(Timestamp),
  disabledAt: Schema.NullOr(Timestamp),
  disabledReason: Schema.NullOr(DisabledReason),
  disabledDetail: Schema.NullOr(Schema.String)
})

const toWebhook = ({ disabledAt, disabledDetail, disabledReason, ...row }: typeof WebhookRow.Type): Webhook => ({
  ...row,
  disabled:
    disabledAt === null || disabledReason === null
      ? null
      : { at: disabledAt, reason: disabledReason, detail: disabledDetail ?? "" }
})

const firstWebhook = decodeFirst(WebhookRow)
const firstSecrets = decodeFirst(Schema.Struct({ secret: Schema.Uint8Array, formerSecrets: FormerSecrets }))
const allSealed = decodeRows(
  Schema.Struct({ webhookId: WebhookId, secret: Schema.Uint8Array, formerSecrets: FormerSecrets })
)
const allWebhooks = decodeRows(WebhookRow)
const allDeliveries = decodeRows(
  Schema.Struct({
    deliveryId: DeliveryId,
    position: SmallBigint,
    sequence: Schema.NullOr(SmallBigint),
    type: Schema.String,
    createdAt: Timestamp,
    state: Schema.Literals(["pending", "delivered", "failed"]),
    attempts: Schema.Int,
    lastAttemptAt: Schema.NullOr(Timestamp),
    lastStatus: Schema.NullOr(Schema.Int),
    problem: Schema.NullOr(Schema.String),
    nextAttemptAt: Schema.NullOr(Timestamp)
  })
)

const columns = `webhook_id AS "webhookId", tenant_id AS "tenantId", url, description, event_types AS "eventTypes",
  created_at AS "createdAt", (former_secrets #>> '{0,until}')::timestamptz AS "previousSecretUntil",
  failing_since AS "failingSince", disabled_at AS "disabledAt",
  disabled_reason AS "disabledReason", disabled_detail AS "disabledDetail"`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const selected = sql.literal(columns)

  // The tenant's row is locked, so that of two concurrent inserts the second counts the first.
  const insert = Effect.fn("WebhookStore.insert")(
    function* (webhook: NewWebhook, limit: number) {
      const { tenantId } = webhook
      yield* sql`SELECT 1 FROM tenants WHERE tenant_id = ${tenantId} FOR NO KEY UPDATE`
      const inserted = yield* sql`
        INSERT INTO webhooks (webhook_id, tenant_id, url, description, event_types, secret, created_at, cursor)
        SELECT ${webhook.webhookId}, ${tenantId}, ${webhook.url}, ${webhook.description},
          ${webhook.eventTypes}::text[], ${webhook.secret}, ${timestamp(webhook.createdAt)}, ${webhook.cursor}::bigint
        WHERE (SELECT count(*) FROM webhooks WHERE tenant_id = ${tenantId}) < ${limit}::int
        RETURNING 1`
      return inserted.length > 0
    },
    sql.withTransaction,
    Effect.orDie
  )

  const list = Effect.fn("WebhookStore.list")((tenantId: TenantId, { after, limit }: PageRequest) => {
    const conditions = [sql`tenant_id = ${tenantId}`]
    if (after !== null) conditions.push(sql`(created_at, webhook_id) < (${timestamp(after.createdAt)}, ${after.id})`)
    const rows = allWebhooks(sql`
      SELECT ${selected} FROM webhooks WHERE ${sql.and(conditions)}
      ORDER BY created_at DESC, webhook_id DESC LIMIT ${limit + 1}`)
    return Effect.map(rows, (found) => found.map(toWebhook))
  })

  const find = Effect.fn("WebhookStore.find")((tenantId: TenantId, webhookId: WebhookId) =>
    Effect.map(
      firstWebhook(sql`SELECT ${selected} FROM webhooks WHERE webhook_id = ${webhookId} AND tenant_id = ${tenantId}`),
      Option.map(toWebhook)
    )
  )

  const remove = Effect.fn("WebhookStore.remove")(function* (tenantId: TenantId, webhookId: WebhookId) {
    const removed = yield* sql`
      DELETE FROM webhooks WHERE webhook_id = ${webhookId} AND tenant_id = ${tenantId} RETURNING 1`
    return removed.length > 0
  }, Effect.orDie)

  const rotate = Effect.fn("WebhookStore.rotate")(
    function* (tenantId: TenantId, webhookId: WebhookId, { maxFormer, now, previousUntil, secret }: NewSecret) {
      const row = yield* firstSecrets(sql`
        SELECT secret, former_secrets AS "formerSecrets" FROM webhooks
        WHERE webhook_id = ${webhookId} AND tenant_id = ${tenantId} FOR NO KEY UPDATE`)
      if (Option.isNone(row)) return Option.none()
      const former = signingAt(row.value.formerSecrets, now)
      if (former.length >= maxFormer) return Option.some({ fullUntil: former.at(-1)!.until })
      const webhook = yield* firstWebhook(sql`
        UPDATE webhooks SET secret = ${secret},
          former_secrets = ${formerSecretsJson([{ secret: row.value.secret, until: previousUntil }, ...former])}::jsonb
        WHERE webhook_id = ${webhookId} RETURNING ${selected}`)
      return Option.map(webhook, toWebhook)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const enable = Effect.fn("WebhookStore.enable")(
    function* (tenantId: TenantId, webhookId: WebhookId, now: DateTime.Utc) {
      const enabled = yield* firstWebhook(sql`
        UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, disabled_detail = NULL, failures = 0,
          failing_since = NULL, rests_until = NULL
        WHERE webhook_id = ${webhookId} AND tenant_id = ${tenantId} RETURNING ${selected}`)
      if (Option.isSome(enabled))
        yield* sql`
          UPDATE webhook_deliveries SET due_at = ${timestamp(now)}, attempts = 0, first_attempt_at = NULL
          WHERE webhook_id = ${webhookId} AND due_at IS NOT NULL`
      return Option.map(enabled, toWebhook)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const sealed = Effect.fn("WebhookStore.sealed")((after: WebhookId | null, limit: number) =>
    Effect.map(
      allSealed(sql`
        SELECT webhook_id AS "webhookId", secret, former_secrets AS "formerSecrets" FROM webhooks
        WHERE webhook_id > ${after ?? ""} ORDER BY webhook_id LIMIT ${limit}`),
      (rows) =>
        rows.map(({ formerSecrets, secret, webhookId }) => ({
          webhookId,
          secrets: [secret, ...formerSecrets.map((former) => former.secret)]
        }))
    )
  )

  const exchangeSecret = Effect.fn("WebhookStore.exchangeSecret")(
    // Sealed secrets are random, so the hex of one stands nowhere else in the JSON.
    (webhookId: WebhookId, from: Uint8Array, to: Uint8Array) => sql`
      UPDATE webhooks
      SET secret = CASE WHEN secret = ${from} THEN ${to} ELSE secret END,
        former_secrets =
          replace(former_secrets::text, encode(${from}::bytea, 'hex'), encode(${to}::bytea, 'hex'))::jsonb
      WHERE webhook_id = ${webhookId}
        AND (secret = ${from} OR strpos(former_secrets::text, encode(${from}::bytea, 'hex')) > 0)`,
    Effect.orDie,
    Effect.asVoid
  )

  const insertTest = Effect.fn("WebhookStore.insertTest")(
    function* ({ at, body, deliveryId, webhookId }: TestMessage) {
      yield* sql`UPDATE webhooks SET rests_until = NULL WHERE webhook_id = ${webhookId}`
      yield* sql`
        INSERT INTO webhook_deliveries (delivery_id, webhook_id, type, body, created_at, due_at)
        VALUES (${deliveryId}, ${webhookId}, ${testType}, ${body}, ${timestamp(at)}, ${timestamp(at)})`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const deliveries = Effect.fn("WebhookStore.deliveries")((
    webhookId: WebhookId,
    limit: number,
    before: number | null
  ) => {
    const conditions = [sql`d.webhook_id = ${webhookId}`]
    if (before !== null) conditions.push(sql`d.position < ${before}::bigint`)
    return allDeliveries(sql`
        SELECT d.delivery_id AS "deliveryId", d.position, d.sequence, d.type, d.created_at AS "createdAt", d.attempts,
          CASE WHEN d.delivered_at IS NOT NULL THEN 'delivered' WHEN d.failed_at IS NOT NULL THEN 'failed'
            ELSE 'pending' END AS state,
          d.last_attempt_at AS "lastAttemptAt", d.last_status AS "lastStatus", d.last_problem AS problem,
          CASE WHEN w.disabled_at IS NULL AND d.due_at IS NOT NULL THEN greatest(d.due_at, w.rests_until)
            END AS "nextAttemptAt"
        FROM webhook_deliveries d JOIN webhooks w ON w.webhook_id = d.webhook_id
        WHERE ${sql.and(conditions)} ORDER BY d.position DESC LIMIT ${limit + 1}`)
  })

  return WebhookStore.of({ insert, list, find, remove, rotate, enable, sealed, exchangeSecret, insertTest, deliveries })
})

export const layer = Layer.effect(WebhookStore, make)
