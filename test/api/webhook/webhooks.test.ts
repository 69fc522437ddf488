/** Webhooks over the API: what is taken, what is shown once, and who sees what. Sending: WebhookDeliveries.test.ts. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CursorInvalid, NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { eventTypes, maxWebhooks } from "#domain/webhook/Webhook.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const url = "https://hooks.example.com/ballast"
const unknown = "wh_01JQ8ZQ7A9C1E3G5J7K9M1N3P5"
const keys = [
  "webhookId",
  "url",
  "eventTypes",
  "description",
  "createdAt",
  "previousSecretUntil",
  "failingSince",
  "disabled"
]

const create = (key: string, body: unknown = { url }) =>
  Effect.flatMap(Api, ({ call }) => call("POST", "/v2/webhooks", { key, body }))

/** A tenant with one webhook. */
const subscribed = Effect.gen(function* () {
  const tenant = yield* newTenant()
  const { json } = yield* create(tenant.key)
  return { ...tenant, webhookId: json.data.webhookId as string, secret: json.data.secret as string }
})

/** A webhook with so many deliveries, as the process that sends writes them. */
const delivered = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const made = yield* subscribed
  yield* sql`
    INSERT INTO webhook_deliveries (delivery_id, webhook_id, sequence, type, body, created_at, due_at, attempts,
      first_attempt_at, last_attempt_at, last_status, last_problem)
    SELECT 'whd_' || lpad(g::text, 26, '0'), ${made.webhookId}, g, 'portfolio.paused', '{}', '2026-03-01T12:00:00Z',
      '2026-03-01T13:00:00Z', 1, '2026-03-01T12:00:01Z', '2026-03-01T12:00:01Z', 500, 'The receiver answered 500'
    FROM generate_series(1, ${count}::int) g`
  return made
})

layer(ApiLive, { excludeTestServices: true })("webhooks", (it) => {
  it.effect("a webhook is made with what was asked for; its secret is in that answer alone", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const body = { url, eventTypes: ["operation.state_changed", "portfolio.paused"], description: "Order desk" }
      const made = yield* create(key, body)
      assertData(made, 201, [...keys, "secret"])
      const { secret, ...webhook } = made.json.data
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/u)
      assert.deepInclude(webhook, { ...body, previousSecretUntil: null, failingSince: null, disabled: null })
      assert.match(webhook.createdAt, isoTime)
      const got = yield* call("GET", `/v2/webhooks/${webhook.webhookId}`, { key })
      assertData(got, 200, keys)
      assert.deepStrictEqual(got.json.data, webhook)
      assert.deepStrictEqual((yield* call("GET", "/v2/webhooks", { key })).json.data.webhooks, [webhook])
      const plain = yield* create(key)
      assert.deepInclude(plain.json.data, { eventTypes: null, description: null })
      assert.notStrictEqual(plain.json.data.secret, secret)
    })
  )

  it.effect("every type of event can be asked for", () =>
    Effect.gen(function* () {
      const { key } = yield* newTenant()
      assert.isAtLeast(eventTypes.length, 12)
      assert.strictEqual((yield* create(key, { url, eventTypes })).status, 201)
    })
  )

  it.effect("refuses addresses to which nothing is sent, and what is no webhook; nothing is stored", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const target of [
        "http://hooks.example.com/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://user:password@hooks.example.com/",
        "https://hooks.example.com:6379/",
        "javascript:alert(1)",
        "x"
      ])
        assertError(yield* create(key, { url: target }), ValidationFailed, "url: expected")
      for (const body of [
        {},
        { url: 1 },
        { url: "" },
        { url: `https://hooks.example.com/${"x".repeat(2_048)}` },
        { url, eventTypes: [] },
        { url, eventTypes: ["operation.state_changed", "operation.state_changed"] },
        { url, eventTypes: ["no.type"] },
        { url, description: "" },
        { url, description: "x".repeat(201) },
        { url, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }
      ])
        assertError(yield* create(key, body), ValidationFailed)
      assert.deepStrictEqual((yield* call("GET", "/v2/webhooks", { key })).json.data.webhooks, [])
    })
  )

  it.effect(`a tenant has at most ${maxWebhooks}, also when many are made at once`, () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const made = yield* Effect.forEach(Array.from({ length: maxWebhooks + 5 }), () => create(key), {
        concurrency: "unbounded"
      })
      const refused = made.filter(({ status }) => status !== 201)
      assert.lengthOf(refused, 5)
      for (const one of refused) assertError(one, ValidationFailed, `url: ${maxWebhooks} webhooks are the most`)
      const first = made.find(({ status }) => status === 201)!.json.data.webhookId
      yield* call("DELETE", `/v2/webhooks/${first}`, { key })
      assert.strictEqual((yield* create(key)).status, 201)
    })
  )

  it.effect("lists are paged, newest first", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const made: Array<string> = []
      for (let count = 0; count < 5; count += 1) made.unshift((yield* create(key)).json.data.webhookId)
      const listed: Array<string> = []
      let position = ""
      do {
        const answer = yield* call("GET", `/v2/webhooks?limit=2${position}`, { key })
        listed.push(...answer.json.data.webhooks.map(({ webhookId }: { webhookId: string }) => webhookId))
        position = answer.json.nextCursor === null ? "" : `&cursor=${answer.json.nextCursor}`
      } while (position !== "")
      assert.deepStrictEqual(listed, made)
      assertError(yield* call("GET", "/v2/webhooks?cursor=x", { key }), CursorInvalid)
      assertError(yield* call("GET", "/v2/webhooks?limit=0", { key }), ValidationFailed)
    })
  )

  it.effect("a rotation shows a new secret and until when the one of before signs too", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { advance } = yield* MovableClock
      const { key, secret, webhookId } = yield* subscribed
      const path = `/v2/webhooks/${webhookId}/rotate-secret`
      const before = yield* DateTime.now
      const rotated = yield* call("POST", path, { key })
      assertData(rotated, 200, [...keys, "secret"])
      assert.notStrictEqual(rotated.json.data.secret, secret)
      const until = Date.parse(rotated.json.data.previousSecretUntil) - before.epochMilliseconds
      assert.isTrue(until >= 86_400_000 && until < 86_460_000)
      advance(1_000)
      const again = yield* call("POST", path, { key, body: {} })
      assert.isAbove(Date.parse(again.json.data.previousSecretUntil), Date.parse(rotated.json.data.previousSecretUntil))
      assertError(yield* call("POST", path, { key, body: { x: 1 } }), ValidationFailed)
    })
  )

  it.effect("a fifth rotation within a day is refused, and says from when on it is accepted", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, webhookId } = yield* subscribed
      const path = `/v2/webhooks/${webhookId}/rotate-secret`
      const first = yield* call("POST", path, { key })
      for (let rotation = 1; rotation < 4; rotation += 1)
        assert.strictEqual((yield* call("POST", path, { key })).status, 200)
      const refused = yield* call("POST", path, { key })
      assertError(refused, ValidationFailed, "webhookId: rotated 4 times in 24 hours")
      assert.include(refused.json.error.message, `after ${first.json.data.previousSecretUntil}`)
    })
  )

  it.effect("a test is accepted and can be followed; a disabled webhook must be enabled first", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, webhookId } = yield* subscribed
      const tested = yield* call("POST", `/v2/webhooks/${webhookId}/test`, { key })
      assertData(tested, 202, ["deliveryId"])
      const log = yield* call("GET", `/v2/webhooks/${webhookId}/deliveries`, { key })
      assertData(log, 200, ["deliveries"])
      const [delivery] = log.json.data.deliveries
      assert.deepInclude(delivery, {
        deliveryId: tested.json.data.deliveryId,
        eventId: null,
        type: "webhook.test",
        state: "pending",
        attempts: 0,
        lastAttemptAt: null,
        lastStatus: null,
        problem: null
      })
      yield* sql`
        UPDATE webhooks SET disabled_at = created_at, disabled_reason = 'gone', disabled_detail = 'It answered 410',
          failing_since = created_at, failures = 1 WHERE webhook_id = ${webhookId}`
      const { disabled } = (yield* call("GET", `/v2/webhooks/${webhookId}`, { key })).json.data
      assert.deepInclude(disabled, { reason: "gone", detail: "It answered 410" })
      assertError(
        yield* call("POST", `/v2/webhooks/${webhookId}/test`, { key }),
        ValidationFailed,
        "webhookId: disabled"
      )
      const enabled = yield* call("POST", `/v2/webhooks/${webhookId}/enable`, { key })
      assertData(enabled, 200, keys)
      assert.deepInclude(enabled.json.data, { disabled: null, failingSince: null })
      assert.strictEqual((yield* call("POST", `/v2/webhooks/${webhookId}/test`, { key })).status, 202)
    })
  )

  it.effect("deliveries are paged, newest first, and a cursor belongs to one webhook", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, webhookId } = yield* delivered(5)
      const path = `/v2/webhooks/${webhookId}/deliveries`
      const all = (yield* call("GET", path, { key })).json.data.deliveries
      assert.lengthOf(all, 5)
      assert.deepInclude(all[0], {
        state: "pending",
        attempts: 1,
        lastStatus: 500,
        problem: "The receiver answered 500"
      })
      assert.strictEqual(all[0].nextAttemptAt, "2026-03-01T13:00:00.000Z")
      const paged: Array<unknown> = []
      let position = ""
      do {
        const answer = yield* call("GET", `${path}?limit=2${position}`, { key })
        paged.push(...answer.json.data.deliveries)
        position = answer.json.nextCursor === null ? "" : `&cursor=${answer.json.nextCursor}`
      } while (position !== "")
      assert.deepStrictEqual(paged, all)
      const { nextCursor } = (yield* call("GET", `${path}?limit=2`, { key })).json
      const other = (yield* create(key)).json.data.webhookId
      assertError(yield* call("GET", `/v2/webhooks/${other}/deliveries?cursor=${nextCursor}`, { key }), CursorInvalid)
      const forged = Buffer.from(
        JSON.stringify({ l: `webhook-deliveries ${webhookId}`, c: "2026-03-01T12:00:00.000Z", i: "x" })
      ).toString("base64url")
      assertError(yield* call("GET", `${path}?cursor=${forged}`, { key }), CursorInvalid)
    })
  )

  it.effect("what is another tenant's, deleted or unknown is not found, on every route", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const owner = yield* subscribed
      const stranger = yield* newTenant()
      const routes = [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/rotate-secret"],
        ["POST", "/enable"],
        ["POST", "/test"],
        ["GET", "/deliveries"]
      ] as const
      for (const [method, suffix] of routes) {
        const path = `/v2/webhooks/${owner.webhookId}${suffix}`
        assertError(yield* call(method, path, { key: stranger.key }), NotFound)
        assertError(yield* call(method, `/v2/webhooks/${unknown}${suffix}`, { key: owner.key }), NotFound)
        assertError(yield* call(method, `/v2/webhooks/x${suffix}`, { key: owner.key }), ValidationFailed, "webhookId: ")
      }
      const removed = yield* call("DELETE", `/v2/webhooks/${owner.webhookId}`, { key: owner.key })
      assertData(removed, 200, ["webhookId"])
      for (const [method, suffix] of routes)
        assertError(yield* call(method, `/v2/webhooks/${owner.webhookId}${suffix}`, { key: owner.key }), NotFound)
    })
  )
})
