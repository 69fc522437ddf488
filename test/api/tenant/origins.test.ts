/** Which pages may call the API from a browser, and with whose keys. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { ValidationFailed } from "#domain/Errors.ts"
import { type Actor, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive, ownOrigin } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

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

/** Whether a page of the origin may read what the API answers to the key. */
const mayRead = (origin: string, { key }: Actor) =>
  Effect.map(
    Effect.flatMap(Api, ({ call }) => call("GET", "/v2/tenant/preferences", { key, headers: { origin } })),
    ({ headers, status }) => {
      assert.strictEqual(status, 200)
      return headers.get("access-control-allow-origin") === origin
    }
  )

/** What a tenant sets holds a moment later. */
const untilIt = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
  holds.pipe(
    Effect.filterOrFail((isSo) => isSo),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 500 })))
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
