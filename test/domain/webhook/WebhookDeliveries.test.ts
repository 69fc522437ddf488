/** Events of the log arrive at webhooks: all, signed, in order and once, whoever sends. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook as Verifier } from "standardwebhooks"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { WebhookDeliveries } from "#domain/webhook/WebhookDeliveries.ts"
import { maxFormerSecrets } from "#domain/webhook/Webhook.ts"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { eventView } from "#http/v2/event/eventView.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import {
  deliveriesOf,
  happen,
  hour,
  idsOf,
  Process,
  processUnder,
  serve,
  subscribed,
  World
} from "#test/domain/webhook/support/subscribed.ts"
import { eachDatabase } from "#test/support/database.ts"
import { status } from "#test/support/Receiver.ts"

eachDatabase("WebhookDeliveries", (it) => {
  it.effect("sends what the log has since the webhook was made: the same events, in order, signed, each once", () =>
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const { asTenant, portfolioId, secret, server, tenantId, webhookId } = yield* subscribed()
      const before = (yield* log.range(tenantId)).last
      yield* happen(tenantId, portfolioId, 5)
      yield* serve
      const events = yield* log.read(tenantId, before, 100)
      assert.lengthOf(events, 5)
      assert.deepStrictEqual(
        server.received.map(({ body }) => JSON.parse(body)),
        JSON.parse(JSON.stringify(events.map(eventView)))
      )
      for (const { body, headers } of server.received) new Verifier(secret).verify(body, headers)
      assert.strictEqual(new Set(server.received.map(({ headers }) => headers["webhook-id"])).size, 5)
      yield* serve
      assert.lengthOf(server.received, 5, "nothing is sent twice")
      const noted = yield* asTenant(deliveriesOf(webhookId))
      assert.deepStrictEqual(
        noted.map(({ deliveryId }) => deliveryId as string),
        server.received.map(({ headers }) => headers["webhook-id"]!).toReversed()
      )
      for (const one of noted)
        assert.deepInclude(one, {
          state: "delivered",
          attempts: 1,
          lastStatus: 200,
          problem: null,
          nextAttemptAt: null
        })
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("sends only the types that were asked for, and nothing of another tenant", () =>
    Effect.gen(function* () {
      const one = yield* subscribed(["portfolio.paused"])
      const other = yield* subscribed()
      yield* happen(one.tenantId, one.portfolioId, 4)
      yield* serve
      assert.deepStrictEqual(
        one.server.received.map(({ body }) => JSON.parse(body).type),
        ["portfolio.paused", "portfolio.paused"]
      )
      assert.lengthOf(other.server.received, 0)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("sends a burst of 500 events in order, each once, while two processes serve at once", () =>
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const { portfolioId, server, tenantId } = yield* subscribed()
      const from = (yield* log.range(tenantId)).last
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, data)
        SELECT ${tenantId}, '2026-03-01T12:00:00Z', 'portfolio.renamed', ${portfolioId}, '{}'
        FROM generate_series(1, 500)`
      yield* Effect.all([serve, Effect.provide(serve, Process)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        idsOf(server),
        Array.from({ length: 500 }, (_, index) => from + index + 1)
      )
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("signs with the old and the new secret for a day after a rotation, and then with the new one alone", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const webhooks = yield* Webhooks
      const { asTenant, portfolioId, secret, server, tenantId, webhookId } = yield* subscribed()
      const rotated = Redacted.value((yield* asTenant(webhooks.rotate(webhookId))).secret)
      yield* happen(tenantId, portfolioId, 1)
      yield* serve
      for (const one of [secret, rotated])
        new Verifier(one).verify(server.received[0]!.body, server.received[0]!.headers)
      advance(24 * hour)
      yield* happen(tenantId, portfolioId, 1)
      yield* serve
      const { body, headers } = server.received[1]!
      assert.lengthOf(headers["webhook-signature"]!.split(" "), 1)
      // The verifier's own clock did not move, so it is asked about the signature and not the time.
      const signed = new Verifier(rotated).sign(
        headers["webhook-id"]!,
        new Date(Number(headers["webhook-timestamp"]) * 1000),
        body
      )
      assert.strictEqual(headers["webhook-signature"], signed)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("signs with every rotated secret for its own day, also when it is rotated again within that day", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const webhooks = yield* Webhooks
      const { asTenant, portfolioId, secret, server, tenantId, webhookId } = yield* subscribed()
      const rotate = Effect.map(asTenant(webhooks.rotate(webhookId)), (rotated) => Redacted.value(rotated.secret))
      const secrets = [secret]
      for (let rotation = 0; rotation < maxFormerSecrets; rotation += 1) {
        secrets.push(yield* rotate)
        advance(hour)
      }
      const refusal = yield* Effect.flip(rotate)
      assert.strictEqual(refusal._tag, "ValidationFailed")
      assert.include(refusal.message, "4 former secrets still sign")

      /** Which of the secrets signed the next message. */
      const signers = Effect.gen(function* () {
        const before = server.received.length
        yield* happen(tenantId, portfolioId, 1)
        yield* serve
        const { body, headers } = server.received[before]!
        const at = new Date(Number(headers["webhook-timestamp"]) * 1000)
        const signatures = headers["webhook-signature"]!.split(" ")
        assert.strictEqual(new Set(signatures).size, signatures.length)
        const known = secrets.map((one) => new Verifier(one).sign(headers["webhook-id"]!, at, body))
        assert.isTrue(signatures.every((signature) => known.includes(signature)))
        return known.flatMap((one, index) => (signatures.includes(one) ? [index] : []))
      })
      assert.deepStrictEqual(yield* signers, [0, 1, 2, 3, 4])
      advance(20 * hour - 60_000)
      assert.deepStrictEqual(yield* signers, [0, 1, 2, 3, 4])
      advance(60_000)
      assert.deepStrictEqual(yield* signers, [1, 2, 3, 4], "the first was rotated 24 hours ago")
      secrets.push(yield* rotate)
      assert.deepStrictEqual(yield* signers, [1, 2, 3, 4, 5])
      advance(24 * hour)
      assert.deepStrictEqual(yield* signers, [5])
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("disables a webhook whose secret was sealed under another pepper, and goes on with a rotated one", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { asTenant, portfolioId, server, tenantId, webhookId } = yield* subscribed()
      yield* happen(tenantId, portfolioId, 1)
      const Other = processUnder("another pepper")
      yield* Effect.provide(serve, Other)
      assert.lengthOf(server.received, 0)
      assert.strictEqual((yield* asTenant(webhooks.get(webhookId))).disabled?.reason, "secret_unreadable")
      yield* Effect.gen(function* () {
        const renewed = yield* Webhooks
        const { secret } = yield* asTenant(renewed.rotate(webhookId))
        yield* asTenant(renewed.enable(webhookId))
        yield* serve
        new Verifier(Redacted.value(secret)).verify(server.received[0]!.body, server.received[0]!.headers)
      }).pipe(Effect.provide(Other))
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("sends a test once and soon, without counting its failure", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const { asTenant, secret, server, webhookId } = yield* subscribed()
      const deliveryId = yield* asTenant(webhooks.test(webhookId))
      yield* serve
      const [{ body, headers }] = server.received as [(typeof server.received)[number]]
      new Verifier(secret).verify(body, headers)
      assert.strictEqual(headers["webhook-id"], deliveryId)
      assert.deepInclude(JSON.parse(body), { eventId: "0", type: "webhook.test", data: { webhookId } })
      server.answer = status(500)
      yield* asTenant(webhooks.test(webhookId))
      yield* serve
      const [failed] = yield* asTenant(deliveriesOf(webhookId))
      assert.deepInclude(failed, { state: "failed", attempts: 1, lastStatus: 500, sequence: null })
      assert.isNull((yield* asTenant(webhooks.get(webhookId))).failingSince)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("sends nothing of a disabled tenant, nothing to a deleted webhook, and deletes after 30 days", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* Webhooks
      const locked = yield* subscribed()
      const deleted = yield* subscribed()
      for (const { portfolioId, tenantId } of [locked, deleted]) yield* happen(tenantId, portfolioId, 1)
      yield* sql`UPDATE tenants SET disabled_at = created_at WHERE tenant_id = ${locked.tenantId}`
      yield* deleted.asTenant(webhooks.remove(deleted.webhookId))
      yield* serve
      assert.lengthOf([...locked.server.received, ...deleted.server.received], 0)
      yield* sql`UPDATE tenants SET disabled_at = NULL WHERE tenant_id = ${locked.tenantId}`
      yield* serve
      assert.lengthOf(locked.server.received, 1)
      const { prune } = yield* WebhookDeliveries
      yield* prune
      assert.lengthOf(yield* locked.asTenant(deliveriesOf(locked.webhookId)), 1)
      advance(31 * 24 * hour)
      yield* prune
      assert.lengthOf(yield* locked.asTenant(deliveriesOf(locked.webhookId)), 0)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("stores secrets so that the database alone does not give them away", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { secret, webhookId } = yield* subscribed()
      const [row] = yield* sql<{
        readonly secret: Uint8Array
      }>`SELECT secret FROM webhooks WHERE webhook_id = ${webhookId}`
      const plain = Buffer.from(secret.slice("whsec_".length), "base64")
      assert.lengthOf(plain, 32)
      assert.isFalse(Buffer.from(row!.secret).includes(plain))
    }).pipe(Effect.scoped, Effect.provide(World))
  )
})
