/**
 * Clients that go away at any moment of their requests, over a real server on PostgreSQL: each `Idempotency-Key` is
 * free or answered as soon as the server has nothing to do any more, and what it names is done once.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { enroll, fillCatalogue, newStrategy, newTenant, prepare, strategyBody } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { Streams, streamingApi } from "#test/api/support/StreamingApi.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

/** A tenant has no more webhooks. */
const requestsOfPath = 20

interface Abandoned {
  readonly key: string
  /** Its `Idempotency-Key`. */
  readonly name: string
  readonly body: unknown
  /** Milliseconds. */
  readonly after: number
}

/** Sends a request and closes its connection so much later. */
const abandoned = (url: string, { after, body, key, name }: Abandoned) =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: {
        "x-api-key": key,
        "content-type": "application/json",
        "idempotency-key": name,
        connection: "close"
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(Math.round(after))
    }).then(
      (answer) => answer.text(),
      () => ""
    )
  )

describe("requests whose clients go away", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  const world = Effect.gen(function* () {
    const url = yield* newDatabase
    return yield* Layer.build(Layer.fresh(streamingApi({}, Layer.empty, { stores: storesOn(url) })))
  })

  /** A claim that its request has left stays in its row until the same request comes again. */
  const noneInProgress = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT 1 FROM idempotency_keys WHERE status IS NULL`
  ).pipe(
    Effect.filterOrFail((rows) => rows.length === 0),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout(patience)
  )

  it.live("leave their keys free or answered, and nothing is done twice", () =>
    Effect.gen(function* () {
      const context = yield* world
      yield* Effect.gen(function* () {
        const { call } = yield* Api
        const { baseUrl } = yield* Streams
        const actor = yield* newTenant()
        yield* fillCatalogue
        const strategyId = yield* newStrategy(actor)
        const numbers = Array.from({ length: requestsOfPath }, (_, number) => number)
        const flows = yield* Effect.forEach(numbers, () => prepare(actor, strategyId))
        const portfolios = yield* Effect.forEach(numbers, () => enroll(actor, strategyId))
        const strategy = (number: number) => ({ ...strategyBody, name: `Cut ${number}` })
        const [took] = yield* Effect.timed(call("POST", "/v2/strategies", { key: actor.key, body: strategy(-1) }))
        const requests = numbers.flatMap((number) => {
          // Some are cut before the server has read them, some in the midst of their work, some after the answer, on a
          // machine that is busy too.
          const after = (Duration.toMillis(took) * 30 * number) / requestsOfPath
          return [
            { after, path: "/v2/strategies", body: strategy(number), status: 201 },
            { after, path: "/v2/webhooks", body: { url: `https://hooks.example.com/${number}` }, status: 201 },
            { after, path: "/v2/enroll", body: flows[number], status: 201 },
            { after, path: `/v2/portfolios/${portfolios[number]!.portfolioId}/rebalance`, body: {}, status: 202 }
          ]
        })
        yield* Effect.forEach(
          requests,
          ({ after, body, path }, index) =>
            abandoned(`${baseUrl}${path}`, { key: actor.key, name: `k${index}`, body, after }),
          { concurrency: 6 }
        )
        yield* noneInProgress
        let replayed = 0
        for (const [index, { body, path, status }] of requests.entries()) {
          const send = call("POST", path, { key: actor.key, headers: { "idempotency-key": `k${index}` }, body })
          const answer = yield* send
          assert.strictEqual(answer.status, status, `${path} ${answer.text}`)
          if (answer.headers.get("idempotent-replayed") === "true") replayed += 1
          const again = yield* send
          assert.strictEqual(again.text, answer.text)
          assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
        }
        assert.isAbove(replayed, 0, "some were carried out although nobody waited for the answer")
        assert.isBelow(replayed, requests.length, "some had not begun")
        const sql = yield* SqlClient.SqlClient
        const [made] = yield* sql`
          SELECT (SELECT count(*)::int FROM strategies WHERE name LIKE 'Cut %') AS strategies,
            (SELECT count(*)::int FROM webhooks) AS webhooks, (SELECT count(*)::int FROM portfolios) AS portfolios,
            (SELECT count(*)::int FROM operations WHERE trigger = 'manual') AS operations`
        const each = requestsOfPath
        assert.deepStrictEqual(made, { strategies: 1 + each, webhooks: each, portfolios: 2 * each, operations: each })
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})
