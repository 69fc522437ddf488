import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import {
  BodyTooLarge,
  Internal,
  MethodNotAllowed,
  NotFound,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError, assertTraced } from "#test/api/support/assertions.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { enrolled, post, request } from "#test/api/support/withdrawing.ts"

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"

const log: Array<string> = []
const Recorder = Logger.layer([Logger.map(Logger.formatStructured, (line) => void log.push(JSON.stringify(line)))])

layer(ApiLive.pipe(Layer.provide(Recorder)), { excludeTestServices: true })("every answer", (it) => {
  it.effect("contains both ids, those of documents, probes and unknown routes too", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const seen = new Set<string>()
      for (const path of [
        "/v2/scopes",
        "/v2/openapi.json",
        "/v2/docs",
        "/v2/llms.txt",
        "/health/live",
        "/health/ready",
        "/nope",
        "/",
        "/v1/nope",
        "/v2/whoami"
      ]) {
        const answer = yield* call("GET", path)
        assertTraced(answer)
        seen.add(answer.headers.get("x-request-id")!)
        assert.notInclude(
          answer.json?.success === undefined ? "" : Object.keys(answer.json).join(),
          path.startsWith("/v1/") ? "x" : "requestId"
        )
      }
      assert.strictEqual(seen.size, 10)
    })
  )

  it.effect("continues the caller's trace, and starts one of its own from anything else", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const correlation = (traceparent: string) =>
        Effect.map(call("GET", "/v2/scopes", { headers: { traceparent } }), ({ headers }) =>
          headers.get("x-correlation-id")
        )
      assert.strictEqual(yield* correlation(`00-${traceId}-00f067aa0ba902b7-01`), traceId)
      assert.strictEqual(yield* correlation(`00-${traceId}-00f067aa0ba902b7-00`), traceId)
      for (const other of [
        "nonsense",
        `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
        `ff-${traceId}-00f067aa0ba902b7-01`,
        "<script>"
      ]) {
        const made = yield* correlation(other)
        assert.match(made ?? "", /^[0-9a-f]{32}$/)
        assert.notStrictEqual(made, traceId)
      }
    })
  )

  it.effect("of a wrong method is 405 with the methods that the path has", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const [method, path, allow] of [
        ["DELETE", "/v2/strategies", "GET, HEAD, POST"],
        ["PUT", "/v2/scopes?x=1", "GET, HEAD"],
        ["POST", "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G", "GET, HEAD, PATCH, DELETE"],
        ["GET", "/v2/enroll", "POST"],
        ["OPTIONS", "/v2/enroll", "POST"],
        ["POST", "/v2/openapi.json", "GET, HEAD"],
        ["POST", "/health/live", "GET, HEAD"],
        ["POST", "/v1/executions/op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1/stream", "GET, HEAD"]
      ] as const) {
        const answer = yield* call(method, path)
        assertError(answer, MethodNotAllowed)
        assert.strictEqual(answer.headers.get("allow"), allow)
      }
      assert.isNull((yield* call("GET", "/v2/nope")).headers.get("allow"))
    })
  )

  it.effect("of an unknown route, case or slash is the 404 envelope", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const [method, path] of [
        ["GET", "/v2/nope"],
        ["DELETE", "/v2/nope"],
        ["GET", "/V2/scopes"],
        ["GET", "/v2/scopes/"],
        ["GET", "/v2//scopes"],
        ["GET", "/v2/../etc/passwd"]
      ] as const) {
        assertError(yield* call(method, path), NotFound)
      }
    })
  )

  it.effect("below /v1 and /portfolio is in the v1 envelope, with the ids of the headers", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      for (const path of ["/v1/nope", "/portfolio/pf_1/nope", "/portfolio/"]) {
        const answer = yield* call("GET", path)
        assert.strictEqual(answer.status, 404)
        const keys = ["success", "error", "correlationId", "requestId", "timestamp"]
        assert.deepStrictEqual(Object.keys(answer.json), keys)
        assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
        assert.strictEqual(answer.json.requestId, answer.headers.get("x-request-id"))
      }
    })
  )

  it.effect("to a merge patch is the same under both of its media types", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, strategyId } = yield* enrolledUser()
      const headers = { "content-type": "application/merge-patch+json; charset=utf-8" }
      for (const [path, body] of [
        [`/v2/portfolios/${portfolioId}`, { portfolioName: "Renamed" }],
        [`/v2/strategies/${strategyId}`, { name: "Renamed" }],
        [`/v2/strategies/${strategyId}/preferences`, { swap: { slippageBps: 7 } }],
        [`/v2/strategies/${strategyId}/fees`, { swapBps: 7 }],
        ["/v2/tenant/preferences", { swap: { slippageBps: 7 } }],
        ["/v2/tenant/fees", { swapBps: 7 }]
      ] as const) {
        const patched = yield* call("PATCH", path, { key, body, headers })
        assert.strictEqual(patched.status, 200, patched.text)
        assert.match(patched.text, /Renamed|:7\b/)
        assertError(yield* call("PATCH", path, { key, body: { nope: 1 }, headers }), ValidationFailed, "nope: ")
      }
      const created = yield* call("POST", "/v2/strategies/validate", { key, body: {}, headers })
      assertError(created, ValidationFailed, "content-type: ")
    })
  )

  it.effect("to a body that is too large is 413 in the envelope", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      assertError(
        yield* call("POST", "/v2/strategies", { key, text: `{"name":"${"x".repeat(66_000)}"}` }),
        BodyTooLarge
      )
    })
  )

  it.effect("to a body that is no JSON is a 400 that says so", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const text of ["{", "", "\u0000", "{'a': 1}", "NaN"]) {
        assertError(yield* call("POST", "/v2/strategies", { key, text }), ValidationFailed, "body: ")
      }
      const form = yield* call("POST", "/v2/strategies", {
        key,
        text: "a=b",
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
      assertError(form, ValidationFailed, "content-type: ")
    })
  )

  it.effect("to keys that are special in JavaScript is an ordinary 400", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      for (const name of ["__proto__", "constructor", "toString"]) {
        const answer = yield* call("PATCH", `/v2/portfolios/${portfolioId}`, { key, text: `{"${name}": {"a": 1}}` })
        assertError(answer, ValidationFailed, `${name}: `)
      }
    })
  )

  it.effect("to a fault of ours is 500 without anything of it, and the log has the whole cause under the same id", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, portfolioId } = yield* enrolledUser()
      environment.launchDefect = new Error("secret of the launcher")
      const answer = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
      environment.launchDefect = undefined
      assertError(answer, Internal)
      assert.notInclude(answer.text, "secret")
      yield* Effect.yieldNow
      const lines = log.filter((line) => line.includes("secret of the launcher"))
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], answer.headers.get("x-correlation-id")!)
    })
  )

  it.effect("to something outside that does not answer is 503, and a warning names it under the same id", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolled()
      environment.chainsDown = true
      const answer = yield* post(user, "withdraw/signature", request).pipe(
        Effect.ensuring(Effect.sync(() => (environment.chainsDown = false)))
      )
      assertError(answer, VerifierUnavailable)
      yield* Effect.yieldNow
      const logged = log.filter((line) => line.includes(answer.headers.get("x-correlation-id")!))
      assert.isFalse(logged.some((line) => line.includes('"level":"ERROR"')))
      const warnings = logged.filter((line) => line.includes('"A request is to be sent again: Balances on chain 8453 '))
      assert.lengthOf(warnings, 1)
      assert.include(warnings[0], '"level":"WARN"')
    })
  )
})
