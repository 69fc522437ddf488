/** What is sent again and when, what is given up, and when a webhook is disabled. */
import { assert } from "@effect/vitest"
import type { ServerResponse } from "node:http"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook as Verifier } from "standardwebhooks"
import { WebhookDeliveries } from "#domain/webhook/WebhookDeliveries.ts"
import { Webhooks } from "#domain/webhook/Webhooks.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import {
  deliveriesOf,
  happen,
  hour,
  idsOf,
  Process,
  serve,
  subscribed,
  World
} from "#test/domain/webhook/support/subscribed.ts"
import { eachDatabase } from "#test/support/database.ts"
import { status } from "#test/support/Receiver.ts"

eachDatabase("failures of webhooks", (it) => {
  it.effect("tries again what failed, later and under the same id, while what comes after it goes on", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const { asTenant, portfolioId, secret, server, tenantId, webhookId } = yield* subscribed()
      const webhooks = yield* Webhooks
      let failures = 2
      server.answer = (received, response) => {
        const isPoison = JSON.parse(received.body).type === "portfolio.paused"
        status(isPoison && failures-- > 0 ? 500 : 200)(received, response, response.req)
      }
      yield* happen(tenantId, portfolioId, 2)
      yield* serve
      assert.lengthOf(server.received, 1, "after a failure the webhook rests")
      assert.isNotNull((yield* asTenant(webhooks.get(webhookId))).failingSince)
      const [, first] = yield* asTenant(deliveriesOf(webhookId))
      assert.deepInclude(first, {
        state: "pending",
        attempts: 1,
        lastStatus: 500,
        problem: "The receiver answered 500"
      })
      assert.isNotNull(first!.nextAttemptAt)
      advance(7_000)
      yield* serve
      assert.lengthOf(server.received, 2, "due again, and it fails again")
      advance(20_000)
      yield* serve
      const [poison, again, third, good] = idsOf(server)
      assert.deepStrictEqual([again, third, good], [poison, poison, poison! + 1])
      const ids = server.received.slice(0, 3).map(({ headers }) => headers["webhook-id"])
      assert.strictEqual(new Set(ids).size, 1)
      const times = server.received.slice(0, 3).map(({ headers }) => Number(headers["webhook-timestamp"]))
      assert.isTrue(times[0]! < times[1]! && times[1]! < times[2]!, "the time is that of the attempt")
      const [latest] = server.received.slice(-1)
      assert.throws(() => new Verifier(secret).verify(latest!.body, { ...latest!.headers, "webhook-timestamp": "1" }))
      assert.isNull((yield* asTenant(webhooks.get(webhookId))).failingSince)
      for (const one of yield* asTenant(deliveriesOf(webhookId))) assert.strictEqual(one.state, "delivered")
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("gives up an event alone when others are accepted for a day, and says so", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const { asTenant, portfolioId, server, tenantId, webhookId } = yield* subscribed()
      const webhooks = yield* Webhooks
      const first = { id: "" }
      server.answer = (received, response) => {
        first.id ||= received.headers["webhook-id"]!
        status(received.headers["webhook-id"] === first.id ? 400 : 200)(received, response, response.req)
      }
      yield* happen(tenantId, portfolioId, 1)
      for (let hours = 0; hours <= 26; hours += 1) {
        yield* serve
        advance(600_000)
        yield* happen(tenantId, portfolioId, 1)
        yield* serve
        advance(hour - 600_000)
      }
      const all = yield* asTenant(deliveriesOf(webhookId))
      const poison = all.find(({ deliveryId }) => deliveryId === first.id)!
      assert.deepInclude(poison, { state: "failed", lastStatus: 400, nextAttemptAt: null })
      assert.isAtLeast(poison.attempts, 6)
      assert.lengthOf(
        all.filter(({ state }) => state === "failed"),
        1
      )
      assert.isNull((yield* asTenant(webhooks.get(webhookId))).disabled)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("disables a webhook that accepts nothing for a day; enabled again it gets all that it missed", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const { asTenant, portfolioId, server, tenantId, webhookId } = yield* subscribed()
      const webhooks = yield* Webhooks
      server.answer = status(503)
      yield* happen(tenantId, portfolioId, 3)
      for (let minutes = 0; minutes <= 25 * 60; minutes += 20) {
        yield* serve
        advance(20 * 60_000)
      }
      const { disabled } = yield* asTenant(webhooks.get(webhookId))
      assert.strictEqual(disabled?.reason, "failing")
      assert.strictEqual(disabled?.detail, "Nothing was accepted for a day; at last: The receiver answered 503")
      const tried = server.received.length
      assert.isAtLeast(tried, 12)
      yield* happen(tenantId, portfolioId, 2)
      yield* serve
      assert.lengthOf(server.received, tried, "nothing is sent to a disabled webhook")
      for (const { nextAttemptAt, state } of yield* asTenant(deliveriesOf(webhookId)))
        assert.deepStrictEqual([state, nextAttemptAt], ["pending", null])
      server.answer = status(200)
      assert.isNull((yield* asTenant(webhooks.enable(webhookId))).disabled)
      yield* serve
      const [begin, ...rest] = idsOf(server).slice(tried)
      assert.deepStrictEqual(
        rest,
        [1, 2, 3, 4].map((step) => begin! + step)
      )
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("disables a webhook at once that answers 410, keeping the event", () =>
    Effect.gen(function* () {
      const { asTenant, portfolioId, server, tenantId, webhookId } = yield* subscribed()
      const webhooks = yield* Webhooks
      server.answer = status(410)
      yield* happen(tenantId, portfolioId, 2)
      yield* serve
      assert.lengthOf(server.received, 1)
      const { disabled } = yield* asTenant(webhooks.get(webhookId))
      assert.deepInclude(disabled, { reason: "gone", detail: "The receiver answered 410 Gone" })
      server.answer = status(200)
      yield* asTenant(webhooks.enable(webhookId))
      yield* serve
      const [gone, again, next] = idsOf(server)
      assert.deepStrictEqual([again, next], [gone, gone! + 1])
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("serves others while receivers hang", () =>
    Effect.gen(function* () {
      const hanging = yield* Effect.forEach([1, 2, 3], () => subscribed())
      const held: Array<ServerResponse> = []
      for (const { server } of hanging) server.answer = (_, response) => void held.push(response)
      const prompt = yield* subscribed()
      for (const { portfolioId, tenantId } of [...hanging, prompt]) yield* happen(tenantId, portfolioId, 20)
      const served = yield* Effect.forkScoped(serve)
      yield* Effect.sleep("5 millis").pipe(
        Effect.repeat({ until: () => prompt.server.received.length === 20 && held.length === 3 })
      )
      for (const response of held) response.destroy()
      yield* Fiber.join(served)
      for (const { asTenant, server, webhookId } of hanging) {
        assert.lengthOf(server.received, 1, "and the one that hung is asked no more until it has rested")
        const problems = (yield* asTenant(deliveriesOf(webhookId))).map(({ problem }) => problem)
        assert.include(problems, "The connection was broken off")
      }
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("leaves a webhook to the process that serves it until its claim ends, and then takes it over", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const deliveries = yield* WebhookDeliveries
      const { portfolioId, server, tenantId } = yield* subscribed()
      yield* happen(tenantId, portfolioId, 1)
      // Claimed by a process that dies before it does anything.
      assert.lengthOf(yield* deliveries.turns(64), 1)
      yield* Effect.provide(serve, Process)
      assert.lengthOf(server.received, 0)
      advance(61_000)
      yield* Effect.provide(serve, Process)
      assert.lengthOf(server.received, 1)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("tries once a minute a webhook whose events it cannot read, and serves others meanwhile", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const sql = yield* SqlClient.SqlClient
      const { turns } = yield* WebhookDeliveries
      const [broken, other] = [yield* subscribed(), yield* subscribed()]
      yield* sql`
        INSERT INTO tenant_events (tenant_id, at, type, data)
        VALUES (${broken.tenantId}, '2026-03-01T12:00:00Z', 'of.no_version', '{}')`
      yield* happen(other.tenantId, other.portfolioId, 2)
      yield* serve
      assert.lengthOf(other.server.received, 2)
      advance(59_000)
      assert.lengthOf(yield* turns(64), 0)
      yield* sql`DELETE FROM tenant_events WHERE type = 'of.no_version'`
      yield* happen(broken.tenantId, broken.portfolioId, 1)
      advance(2_000)
      yield* serve
      assert.lengthOf(broken.server.received, 1)
    }).pipe(Effect.scoped, Effect.provide(World))
  )

  it.effect("sends again what was sent and not noted, under the same id", () =>
    Effect.gen(function* () {
      const { advance } = yield* MovableClock
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, server, tenantId } = yield* subscribed()
      yield* happen(tenantId, portfolioId, 1)
      // Between the answer and the note the database goes away.
      server.answer = (received, response) =>
        void Effect.runPromise(Effect.orDie(sql`ALTER TABLE webhook_deliveries RENAME TO gone`)).then(() =>
          status(200)(received, response, response.req)
        )
      yield* Effect.flatMap(WebhookDeliveries, ({ turns }) => Effect.flatMap(turns(1), Effect.all))
      yield* sql`ALTER TABLE gone RENAME TO webhook_deliveries`
      server.answer = status(200)
      advance(61_000)
      yield* serve
      const [one, again, ...others] = server.received
      assert.deepStrictEqual(others, [])
      assert.strictEqual(again!.headers["webhook-id"], one!.headers["webhook-id"])
      assert.strictEqual(again!.body, one!.body)
    }).pipe(Effect.scoped, Effect.provide(World))
  )
})
