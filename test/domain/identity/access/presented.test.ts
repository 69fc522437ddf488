import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PermissionDenied } from "#domain/errors/Errors.ts"
import { bearerIn, isOfPage, keyHeaderIn, keyIn } from "#domain/identity/access/presented.ts"
import { requireScope } from "#domain/identity/access/requireScope.ts"
import { ApiKeyId } from "#domain/values/Ids.ts"

describe("what a request presents", () => {
  for (const [authorization, token] of [
    ["Bearer abc", "abc"],
    ["bearer  abc", "abc"],
    ["Bearer", undefined],
    ["Bearer ", undefined],
    ["Bearer a b", undefined],
    ["Basic abc", undefined],
    ["", undefined]
  ] as const)
    it(`Authorization: ${authorization} has the token ${token}`, () =>
      assert.strictEqual(bearerIn({ authorization }), token))

  it("a key stands in its header before it stands as a bearer token, and a session's token is no key", () => {
    assert.strictEqual(keyIn({ "x-api-key": "bk_1", authorization: "Bearer bk_2" }), "bk_1")
    assert.strictEqual(keyIn({ "x-api-key": "", authorization: "Bearer bk_2" }), "bk_2")
    assert.strictEqual(keyIn({ "x-api-key": "bk_1", authorization: "Bearer bs_2" }), "bk_1")
    assert.isUndefined(keyIn({ authorization: "Bearer bs_2" }))
    assert.isUndefined(keyIn({}))
    assert.isUndefined(keyHeaderIn({ "x-api-key": "", authorization: "Bearer bk_2" }))
  })

  it("a page is of an origin that it sends, or else of the service's own", () => {
    const origins = ["https://app.example.com"]
    assert.isTrue(isOfPage({ origin: "https://app.example.com", "sec-fetch-site": "cross-site" }, origins))
    assert.isFalse(isOfPage({ origin: "https://other.example", "sec-fetch-site": "same-origin" }, origins))
    assert.isTrue(isOfPage({ "sec-fetch-site": "same-origin" }, origins))
    assert.isFalse(isOfPage({ "sec-fetch-site": "same-site" }, origins))
    assert.isFalse(isOfPage({}, origins))
  })
})

describe("requireScope", () => {
  const apiKeyId = ApiKeyId.make("key_01JQ8ZKX4V6T3M9N2C5B7D8F0H")
  const reader = { apiKeyId, scopes: new Set(["portfolios:read"] as const) }

  it.effect("succeeds with the scope and where none is required, and names the key and the scope that it lacks", () =>
    Effect.gen(function* () {
      yield* requireScope(reader, "portfolios:read")
      yield* requireScope({ apiKeyId, scopes: new Set() }, undefined)
      const refused = yield* Effect.flip(requireScope(reader, "strategies:write"))
      assert.instanceOf(refused, PermissionDenied)
      assert.include(refused.message, apiKeyId)
      assert.include(refused.message, "strategies:write")
    })
  )
})
