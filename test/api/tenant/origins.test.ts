/** Which pages may call the API from a browser, and with whose keys. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { type Actor, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive, ownOrigin } from "#test/api/support/Api.ts"
import { endpoints } from "#test/api/support/endpoints.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { patience } from "#test/support/suite/patience.ts"

const setOrigins = ({ key }: Actor, origins: unknown) =>
  Effect.flatMap(Api, ({ call }) => call("PATCH", "/v2/tenant/preferences", { key, body: { origins } }))

const preflight = (origin: string) =>
  Effect.map(
    Effect.flatMap(Api, ({ call }) =>
      call("OPTIONS", "/v2/tenant/preferences", {
        headers: {
          origin,
          "access-control-request-method": "GET",
          "access-control-request-headers": "x-api-key"
        }
      })
    ),
    ({ headers }) => headers
  )

/** Whether a page of the origin may read an answer. */
const isReadable = (origin: string, { headers }: { readonly headers: Headers }) =>
  headers.get("access-control-allow-origin") === origin

/** Whether a page of the origin may read what the API answers to the key. */
const mayRead = (origin: string, { key }: Actor) =>
  Effect.map(
    Effect.flatMap(Api, ({ call }) => call("GET", "/v2/tenant/preferences", { key, headers: { origin } })),
    (answer) => {
      assert.strictEqual(answer.status, 200)
      return isReadable(origin, answer)
    }
  )

/** Each route but the stream of events, which does not end by itself. */
const ending = endpoints.filter(({ path }) => !path.startsWith("/v2/events/stream"))

/** What a tenant sets holds a moment later. */
const untilIt = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
  holds.pipe(
    Effect.filterOrFail((isSo) => isSo),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: patience })))
  )

layer(ApiLive, { excludeTestServices: true })("pages of a tenant's origins", (it) => {
  it.effect("may call the API with that tenant's keys, and with nobody's cookie", () =>
    Effect.gen(function* () {
      const [actor, other] = [yield* newTenant(), yield* newTenant()]
      const origin = "https://shop.example.com"
      assert.isNull((yield* preflight(origin)).get("access-control-allow-origin"))
      assert.isFalse(yield* mayRead(origin, actor))
      const set = yield* setOrigins(actor, [origin, "http://localhost:5173"])
      assert.deepStrictEqual(set.json.data.origins, [origin, "http://localhost:5173"])

      yield* untilIt(mayRead(origin, actor))
      assert.isFalse(yield* mayRead(origin, other), "another tenant's key")
      const asked = yield* preflight(origin)
      assert.strictEqual(asked.get("access-control-allow-origin"), origin)
      assert.include(asked.get("access-control-allow-headers")!.split(","), "x-api-key")
      assert.isNull(asked.get("access-control-allow-credentials"))
      assert.isTrue(yield* mayRead("http://localhost:5173", actor))
      for (const near of ["https://shop.example.com:8443", "http://shop.example.com", "https://example.com", "null"])
        assert.isFalse(yield* mayRead(near, actor), near)

      const cleared = yield* setOrigins(actor, null)
      assert.notProperty(cleared.json.data, "origins")
      yield* untilIt(Effect.map(mayRead(origin, actor), (may) => !may))
      assert.isNull((yield* preflight(origin)).get("access-control-allow-origin"))
    })
  )

  it.effect("never read an answer to another tenant's key, on any route, by any header, whatever the answer", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [actor, other] = [yield* newTenant(), yield* newTenant()]
      const origin = "https://every.example.com"
      yield* setOrigins(actor, [origin])
      yield* untilIt(mayRead(origin, actor))
      const routes = [
        ...ending,
        { method: "GET", path: "/v1/executions/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/stream", body: undefined },
        { method: "GET", path: "/v1/ai/executions/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/ag-ui-stream", body: undefined },
        { method: "POST", path: "/mcp", body: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
        { method: "GET", path: "/v2/nothing", body: undefined }
      ]
      for (const { body, method, path } of routes)
        for (const headers of [
          { origin, "x-api-key": other.key },
          { origin, authorization: `Bearer ${other.key}` }
        ] as ReadonlyArray<Record<string, string>>) {
          const answer = yield* call(method, path, { headers, body })
          // That no key was found says nothing of anybody.
          assert.strictEqual(isReadable(origin, answer), answer.status === 401, `${method} ${path}: ${answer.status}`)
        }
    })
  )

  it.effect("read answers to their tenant's key on every route, those that need no key as well", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, ...actor } = yield* newTenant()
      const origin = "https://all.example.com"
      yield* setOrigins({ key, ...actor }, [origin])
      yield* untilIt(mayRead(origin, { key, ...actor }))
      for (const { method, path } of ending.filter((endpoint) => endpoint.method === "GET"))
        assert.isTrue(isReadable(origin, yield* call(method, path, { headers: { origin }, key })), path)
      const streamed = yield* call("GET", "/v1/executions/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/stream", {
        headers: { origin },
        key
      })
      assert.isTrue(isReadable(origin, streamed), streamed.text)
      const unknown = yield* call("GET", "/v2/whoami", { headers: { origin }, key: `${key}x` })
      assert.isTrue(isReadable(origin, unknown), "that the key is not known")
      for (const path of ["/v2/scopes", "/v2/openapi.json", "/health/live"])
        assert.isTrue(isReadable(origin, yield* call("GET", path, { headers: { origin } })), path)
    })
  )

  it.effect("are not those of the deployment, where cookies count and every key may be used", () =>
    Effect.gen(function* () {
      const asked = yield* preflight(ownOrigin)
      assert.strictEqual(asked.get("access-control-allow-origin"), ownOrigin)
      assert.strictEqual(asked.get("access-control-allow-credentials"), "true")
      assert.isTrue(yield* mayRead(ownOrigin, yield* newTenant()))
    })
  )

  it.effect("are twenty at most, each as browsers send it", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const many = Array.from({ length: 21 }, (_, index) => `https://p${index}.example.com`)
      const refused = [[], many, ["*"], ["https://app.example.com/"], ["app.example.com"], ["HTTPS://APP.example"], "x"]
      for (const origins of refused) {
        const answer = yield* setOrigins(actor, origins)
        assertError(answer, ValidationFailed)
        assert.include(answer.text, "origins")
      }
      assert.strictEqual((yield* setOrigins(actor, many.slice(1))).status, 200)
    })
  )
})
