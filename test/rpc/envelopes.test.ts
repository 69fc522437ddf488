/** Every path has one envelope for errors, also for those that no handler answers: no route, limits, bodies, faults. */
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, unlimited } from "#test/api/support/Api.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const action = "/v1/rpc/v2.portfolio.actions.submit"
const large = `{"json":{"q":"${"x".repeat(66_000)}"}}`

type Envelope = "procedure" | "action" | "v1" | "v2"

/** Where code and message stand, and nothing else that another envelope has. */
const errorIn = (envelope: Envelope, json: any): { readonly code: string } => {
  const isRest = envelope === "v1" || envelope === "v2"
  const ids = envelope === "v1" ? ["correlationId", "requestId", "timestamp"] : []
  assert.deepStrictEqual(Object.keys(json), isRest ? ["success", "error", ...ids] : ["error"], JSON.stringify(json))
  const error = envelope === "procedure" ? json.error.json : json.error
  assert.isString(error.message, JSON.stringify(json))
  return error
}

layer(executionsApi(), { excludeTestServices: true })("errors stand where the path has them", (it) => {
  for (const [envelope, method, path, status, code] of [
    ["procedure", "POST", "/v1/rpc/assets.noSuch", 404, "API_006"],
    ["procedure", "GET", "/v1/rpc/", 404, "API_006"],
    ["procedure", "PUT", "/v1/rpc", 405, "API_003"],
    ["procedure", "DELETE", "/v1/rpc/assets.browseAssets?input=x", 405, "API_003"],
    ["action", "GET", action, 405, "API_003"],
    ["v1", "GET", "/v1/nope", 404, "API_006"],
    ["v1", "GET", "/v1/rpcs", 404, "API_006"],
    ["v1", "POST", "/v1/executions/op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1/stream", 405, "API_003"],
    ["v2", "GET", "/v2/nope", 404, "API_006"],
    ["v2", "PUT", "/v2/scopes", 405, "API_003"]
  ] as const) {
    it.effect(`${envelope}: ${method} ${path} is ${status}`, () =>
      Effect.gen(function* () {
        const answer = yield* (yield* Api).call(method, path)
        assert.strictEqual(answer.status, status)
        assert.strictEqual(errorIn(envelope, answer.json).code, code)
      })
    )
  }

  it.effect("a body that is too large is 413 on procedures, their native wire, v1 and v2", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const [envelope, path] of [
        ["procedure", "/v1/rpc/assets.searchForTokens"],
        ["procedure", "/v1/rpc"],
        ["action", action],
        ["v1", "/v1/admin/tenants"],
        ["v2", "/v2/strategies"]
      ] as const) {
        const headers = { authorization: "Bearer test-admin-token-of-enough-length" }
        const answer = yield* call("POST", path, { key, text: large, headers })
        assert.strictEqual(answer.status, 413, `${path} ${answer.text}`)
        assert.strictEqual(errorIn(envelope, answer.json).code, "API_400", path)
      }
    })
  )

  it.effect("a fault is 500 without anything of it, and with the ids in the headers", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const answer = yield* call("POST", "/v1/rpc/cryptoMarketData.getTrending", { body: { json: {} } })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(errorIn("procedure", answer.json).code, "API_600")
      assert.isTrue(answer.headers.has("x-correlation-id"))
    })
  )
})

layer(executionsApi({}, { ...unlimited, global: 1 }), { excludeTestServices: true })(
  "an address at its limit",
  (it) => {
    it.effect("is 429 in the envelope of the path, with the seconds to wait", () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* call("GET", "/v2/scopes")
        for (const [envelope, method, path] of [
          ["procedure", "POST", "/v1/rpc/assets.browseAssets"],
          ["procedure", "GET", "/v1/rpc/assets.browseAssets?input=%7B%7D"],
          ["procedure", "POST", "/v1/rpc"],
          ["procedure", "POST", "/v1/rpc/assets.noSuch"],
          ["action", "POST", action],
          ["v1", "GET", "/v1/admin/tenants"],
          ["v2", "GET", "/v2/scopes"]
        ] as const) {
          const answer = yield* call(method, path)
          assert.strictEqual(answer.status, 429, path)
          assert.strictEqual(errorIn(envelope, answer.json).code, "API_004", path)
          assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]?$/u, path)
        }
      })
    )
  }
)

describe("an answer outside of a handler", () => {
  const error = new ValidationFailed({ message: "The request body must be JSON", details: ["content-type: JSON"] })
  const requestContext = { correlationId: "c", requestId: "r" } as Parameters<typeof errorResponse>[1]["requestContext"]

  for (const [envelope, path] of [
    ["procedure", "/v1/rpc/assets.browseAssets"],
    ["action", action],
    ["v1", "/v1/execute"],
    ["v2", "/v2/strategies"]
  ] as const)
    it(`is 415 in the envelope of ${path}`, () => {
      const response = errorResponse(error, { path, requestContext, now: DateTime.makeUnsafe(0), status: 415 })
      assert.strictEqual(response.status, 415)
      assert.strictEqual(response.body._tag, "Uint8Array")
      const text = response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : ""
      assert.strictEqual(errorIn(envelope, JSON.parse(text)).code, "API_400")
    })
})
