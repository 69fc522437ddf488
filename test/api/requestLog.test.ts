/** What the log says of requests: each that was refused, and a sample of the others. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { Api, ApiWithLog } from "#test/api/support/Api.ts"

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const lines: Array<Line> = []

const capturing = Logger.layer([
  Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
    const fields = fiber.getRef(References.CurrentLogAnnotations)
    if ("route" in fields) lines.push({ level: logLevel, message: String(message), fields })
  })
])

/** The lines that a request left, by its correlation id. */
const logged = ({ headers }: { readonly headers: Headers }) =>
  lines.filter(({ fields }) => fields["correlationId"] === headers.get("x-correlation-id"))

layer(ApiWithLog.pipe(Layer.provide(capturing)), { excludeTestServices: true })("the request log", (it) => {
  it.effect("logs a refused request in one line: route, code, tenant, key, duration and correlation id", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { apiKeyId, key, tenantId } = yield* newTenant()
      const answer = yield* call("GET", "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G", { key })
      assert.strictEqual(answer.status, 404)
      const [line, ...others] = logged(answer)
      assert.isEmpty(others)
      assert.deepInclude(line, { level: "Info", message: "Refused" })
      const { milliseconds, ...fields } = line!.fields
      assert.isAtLeast(milliseconds as number, 0)
      assert.deepStrictEqual(fields, {
        method: "GET",
        route: "/v2/strategies/{strategyId}",
        status: 404,
        code: answer.json.error.code,
        tenantId,
        apiKeyId,
        correlationId: answer.headers.get("x-correlation-id"),
        requestId: answer.headers.get("x-request-id")
      })
    })
  )

  it.effect("logs whose key lacked a scope, and no tenant where the key is unknown", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const reader = yield* readOnlyKey(actor)
      const denied = yield* call("POST", "/v2/strategies", { key: reader, body: {} })
      assert.deepInclude(logged(denied)[0]?.fields, { status: 403, code: "API_104", tenantId: actor.tenantId })
      const unknown = yield* call("GET", "/v2/whoami", { key: "not-a-key" })
      assert.deepInclude(logged(unknown)[0]?.fields, { status: 401, code: "API_102", route: "/v2/whoami" })
      assert.notProperty(logged(unknown)[0]?.fields, "tenantId")
      const nowhere = yield* call("GET", "/v2/nowhere", { key: reader })
      assert.deepInclude(logged(nowhere)[0]?.fields, { status: 404, route: "unmatched" })
      const everything = JSON.stringify(lines)
      for (const secret of [actor.key, reader]) assert.notInclude(everything, secret)
    })
  )

  it.effect("logs one in a hundred requests that were answered without an error", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const answers = yield* Effect.forEach(Array.from({ length: 200 }), () => call("GET", "/v2/whoami", { key }))
      assert.isTrue(answers.every(({ status }) => status === 200))
      const sampled = answers.flatMap(logged)
      assert.strictEqual(sampled.length, 2)
      for (const { fields, level, message } of sampled) {
        assert.deepStrictEqual([level, message], ["Info", "Answered"])
        assert.notProperty(fields, "code")
      }
    })
  )
})
