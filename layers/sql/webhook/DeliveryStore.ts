/** Deliveries that wait to be sent to webhooks, and their claims, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ClaimId, DeliveryId, TenantId, WebhookId } from "#domain/values/Ids.ts"
import {
  type Attempt,
  type Batch,
  type DeliveryClaim,
  DeliveryStore,
  type FailedAttempt
} from "#domain/webhook/DeliveryStore.ts"
import type { Disabling } from "#domain/webhook/Webhook.ts"
import { FormerSecrets } from "#layers/sql/webhook/formerSecrets.ts"
import { decodeFirst, decodeRows, SmallBigint, Timestamp, timestamp, timestampOrNull } from "#layers/sql/rows.ts"

const allClaimed = decodeRows(
  Schema.Struct({
    webhookId: WebhookId,
    tenantId: TenantId,
    url: Schema.String,
    eventTypes: Schema.NullOr(Schema.Array(Schema.String)),
    secret: Schema.Uint8Array,
    formerSecrets: FormerSecrets,
    cursor: SmallBigint,
    failures: Schema.Int,
    failingSince: Schema.NullOr(Timestamp)
  })
)
const allDue = decodeRows(
  Schema.Struct({
    deliveryId: DeliveryId,
    isTest: Schema.Boolean,
    body: Schema.String,
    attempts: Schema.Int,
    firstAttemptAt: Schema.NullOr(Timestamp)
  })
)
const firstAge = decodeFirst(Schema.Struct({ dueAt: Schema.NullOr(Timestamp) }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Events that came and have no number yet count too: readers of the log number them.
  const claim = Effect.fn("DeliveryStore.claim")(({ claimId, limit, now, until }: DeliveryClaim) => {
    const at = timestamp(now)
    return allClaimed(sql`
      WITH ready AS MATERIALIZED (
        SELECT w.webhook_id FROM webhooks w
        WHERE w.disabled_at IS NULL
          AND (w.claimed_until IS NULL OR w.claimed_until <= ${at})
          AND (w.rests_until IS NULL OR w.rests_until <= ${at})
          AND EXISTS (SELECT FROM tenants t WHERE t.tenant_id = w.tenant_id AND t.disabled_at IS NULL)
          AND (
            EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.webhook_id AND d.due_at <= ${at})
            OR EXISTS (SELECT FROM tenant_event_heads h WHERE h.tenant_id = w.tenant_id AND h.last_sequence > w.cursor)
            OR EXISTS (SELECT FROM tenant_events e WHERE e.tenant_id = w.tenant_id AND e.sequence IS NULL)
          )
        ORDER BY w.served_at NULLS FIRST, w.webhook_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE webhooks w SET claim_id = ${claimId}, claimed_until = ${timestamp(until)}, served_at = ${at}
      FROM ready WHERE w.webhook_id = ready.webhook_id
      RETURNING w.webhook_id AS "webhookId", w.tenant_id AS "tenantId", w.url, w.event_types AS "eventTypes", w.secret,
        w.former_secrets AS "formerSecrets", w.cursor, w.failures, w.failing_since AS "failingSince"`)
  })

  const release = Effect.fn("DeliveryStore.release")(
    (webhookId: WebhookId, claimId: ClaimId) => sql`
      UPDATE webhooks SET claim_id = NULL, claimed_until = NULL
      WHERE webhook_id = ${webhookId} AND claim_id = ${claimId}`,
    Effect.asVoid,
    Effect.orDie
  )

  const due = Effect.fn("DeliveryStore.due")((webhookId: WebhookId, now: DateTime.Utc, limit: number) =>
    allDue(sql`
      SELECT delivery_id AS "deliveryId", sequence IS NULL AS "isTest", body, attempts,
        first_attempt_at AS "firstAttemptAt"
      FROM webhook_deliveries WHERE webhook_id = ${webhookId} AND due_at <= ${timestamp(now)}
      ORDER BY position LIMIT ${limit}`)
  )

  const enqueue = Effect.fn("DeliveryStore.enqueue")(
    function* ({ after, at, deliveries, through, webhookId }: Batch) {
      const moved = yield* sql`
        UPDATE webhooks SET cursor = ${through}::bigint
        WHERE webhook_id = ${webhookId} AND cursor = ${after}::bigint RETURNING 1`
      if (moved.length === 0 || deliveries.length === 0) return
      yield* sql`
        INSERT INTO webhook_deliveries (delivery_id, webhook_id, sequence, type, body, created_at, due_at)
        SELECT delivery_id, ${webhookId}, sequence, type, body, ${timestamp(at)}, ${timestamp(at)}
        FROM unnest(${deliveries.map(({ deliveryId }) => deliveryId)}::text[],
          ${deliveries.map(({ sequence }) => sequence)}::bigint[], ${deliveries.map(({ type }) => type)}::text[],
          ${deliveries.map(({ body }) => body)}::text[]) AS added (delivery_id, sequence, type, body)
        ORDER BY sequence`
    },
    sql.withTransaction,
    Effect.orDie
  )

  // A webhook's row is always locked before those of its deliveries, also when it is enabled meanwhile.
  const succeeded = Effect.fn("DeliveryStore.succeeded")(
    ({ at, deliveryId, answer, webhookId }: Attempt) => sql`
      WITH recovered AS MATERIALIZED (
        UPDATE webhooks SET failures = 0, failing_since = NULL, rests_until = NULL
        WHERE webhook_id = ${webhookId} AND failing_since IS NOT NULL RETURNING 1
      )
      UPDATE webhook_deliveries SET attempts = attempts + 1,
        first_attempt_at = coalesce(first_attempt_at, ${timestamp(at)}), last_attempt_at = ${timestamp(at)},
        last_status = ${answer.status}, last_problem = NULL, delivered_at = ${timestamp(at)}, due_at = NULL
      WHERE delivery_id = ${deliveryId} AND due_at IS NOT NULL AND (SELECT count(*) FROM recovered) >= 0`,
    Effect.asVoid,
    Effect.orDie
  )

  const failed = Effect.fn("DeliveryStore.failed")(
    function* ({ at, deliveryId, dueAt, answer, webhook, webhookId }: FailedAttempt) {
      const [now, next] = [timestamp(at), timestampOrNull(dueAt)]
      if (webhook !== null)
        yield* sql`
          UPDATE webhooks SET failures = failures + 1, rests_until = ${timestamp(webhook.restsUntil)},
            failing_since = coalesce(failing_since, ${timestamp(webhook.failingSince)})
          WHERE webhook_id = ${webhookId}`
      yield* sql`
        UPDATE webhook_deliveries SET attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, ${now}),
          last_attempt_at = ${now}, last_status = ${answer.status}, last_problem = ${answer.problem},
          due_at = ${next}::timestamptz,
          failed_at = CASE WHEN ${next}::timestamptz IS NULL THEN ${now}::timestamptz END
        WHERE delivery_id = ${deliveryId} AND due_at IS NOT NULL`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const disable = Effect.fn("DeliveryStore.disable")(
    (webhookId: WebhookId, { at, detail, reason }: Disabling) => sql`
      UPDATE webhooks SET disabled_at = ${timestamp(at)}, disabled_reason = ${reason}, disabled_detail = ${detail}
      WHERE webhook_id = ${webhookId} AND disabled_at IS NULL`,
    Effect.asVoid,
    Effect.orDie
  )

  const oldestDue = Effect.fn("DeliveryStore.oldestDue")((now: DateTime.Utc) =>
    Effect.map(
      firstAge(sql`
        SELECT min(first.due_at) AS "dueAt" FROM webhooks w CROSS JOIN LATERAL (
          SELECT d.due_at FROM webhook_deliveries d WHERE d.webhook_id = w.webhook_id AND d.due_at <= ${timestamp(now)}
          ORDER BY d.position LIMIT 1
        ) first
        WHERE w.disabled_at IS NULL AND w.failing_since IS NULL
          AND EXISTS (SELECT FROM tenants t WHERE t.tenant_id = w.tenant_id AND t.disabled_at IS NULL)`),
      Option.flatMap(({ dueAt }) => Option.fromNullishOr(dueAt))
    )
  )

  const prune = Effect.fn("DeliveryStore.prune")(function* (before: DateTime.Utc, limit: number) {
    const removed = yield* sql`
      DELETE FROM webhook_deliveries WHERE position IN (
        SELECT position FROM webhook_deliveries WHERE created_at < ${timestamp(before)}
        ORDER BY created_at LIMIT ${limit}
      ) RETURNING 1`
    return removed.length
  }, Effect.orDie)

  return DeliveryStore.of({ claim, release, due, enqueue, succeeded, failed, disable, oldestDue, prune })
})

export const layer = Layer.effect(DeliveryStore, make)
