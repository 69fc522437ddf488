/** Every answer that is no stream comes in time, or says that it did not, on every wire. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { AnswerSettings } from "#domain/request/AnswerSettings.ts"
import { addRoute } from "#http/serving/routeTable.ts"
import { Api } from "#test/api/support/Api.ts"
import { accepted, enter, streamingApi, Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApiWith } from "#test/rpc/support/ExecutionsApi.ts"

const settings = Layer.succeed(AnswerSettings, { longest: Duration.seconds(5), maxCalls: 100 })

/** A market of which one answer never comes. */
const market = Layer.mock(CryptoMarketData, { global: Effect.never })

const native = (...tags: ReadonlyArray<string>) =>
  Effect.flatMap(Api, ({ call }) =>
    call("POST", "/v1/rpc", {
      headers: { "content-type": "application/x-ndjson" },
      text: tags
        .map((tag, id) => `${JSON.stringify({ _tag: "Request", id: `${id}`, tag, payload: null, headers: [] })}\n`)
        .join("")
    })
  )

layer(executionsApiWith(market)().pipe(Layer.provide(settings)), { excludeTestServices: true })(
  "an answer that does not come",
  (it) => {
    it.effect("is 503 in the procedures' envelope on the interface's wire, with the ids of the request", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { headers, json, status } = yield* call("POST", "/v1/rpc/cryptoMarketData.getGlobal", { body: {} })
        assert.deepStrictEqual([status, json.error.json.code], [503, "API_600"])
        assert.include(json.error.json.message, "There was no answer within")
        assert.isTrue(headers.has("x-correlation-id"))
      })
    )

    it.effect("fails a call over Effect's RPC with Unavailable, and other calls of its request are answered", () =>
      Effect.gen(function* () {
        const { status, text } = yield* native("cryptoMarketData.getGlobal", "identity.session")
        assert.strictEqual(status, 200)
        const exits = new Map(
          text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line))
            .map(({ exit, requestId }) => [requestId, exit.cause[0]])
        )
        assert.strictEqual(exits.get("1").error._tag, "SessionInvalid")
        const { error } = exits.get("0")
        assert.strictEqual(error._tag, "Unavailable")
        assert.include(error.message, "There was no answer within")
      })
    )

    it.effect("is no matter of streams, which go on", () =>
      Effect.gen(function* () {
        const { key, operationId } = yield* accepted
        const source = yield* (yield* Streams).open(operationId, { key })
        yield* Effect.sleep("7 seconds")
        yield* enter(operationId, "running")
        const kinds: Array<string | undefined> = []
        while (!kinds.includes("execution.state_changed")) kinds.push((yield* Effect.promise(source.nextEvent))!.event)
      })
    )
  }
)

addRoute("GET", "/v2/never")
const silence = Effect.as(Effect.never, HttpServerResponse.empty())
const never = HttpRouter.use((router) => router.add("GET", "/v2/never", silence))

layer(streamingApi({}, never).pipe(Layer.provide(settings)), { excludeTestServices: true })("a route", (it) => {
  it.effect("that does not answer is 503 in its envelope", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { json, status } = yield* call("GET", "/v2/never")
      assert.deepStrictEqual([status, json.success, json.error.code], [503, false, "API_600"])
      assert.include(json.error.message, "There was no answer within")
    })
  )
})
