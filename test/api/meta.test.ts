import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { KeyMissing } from "#domain/errors/Errors.ts"
import { scopes } from "#domain/values/Scopes.ts"
import { newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"

layer(ApiLive, { excludeTestServices: true })("meta", (it) => {
  it.effect("whoami shows the tenant and what the key may do", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, apiKeyId } = yield* newTenant()
      const answer = yield* call("GET", "/v2/whoami", { key })
      assertData(answer, 200, ["tenantName", "tenantEmail", "apiKeyId", "scopes"])
      assert.deepStrictEqual(answer.json.data, {
        tenantName: "Northwind",
        tenantEmail: "ops@northwind.test",
        apiKeyId,
        scopes: answer.json.data.scopes
      })
      assert.sameMembers(
        answer.json.data.scopes,
        scopes.map(({ name }) => name)
      )
    })
  )

  it.effect("whoami needs no scope, and reads the header in any case", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const key = yield* readOnlyKey(yield* newTenant())
      const answer = yield* call("GET", "/v2/whoami", { headers: { "X-API-Key": key } })
      assert.deepStrictEqual(answer.json.data.scopes, ["strategies:read", "portfolios:read"])
    })
  )

  it.effect("an empty key is a missing one", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      assertError(yield* call("GET", "/v2/whoami", { key: "" }), KeyMissing)
    })
  )

  it.effect("scopes lists all ten in order, without a key", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const answer = yield* call("GET", "/v2/scopes")
      assertData(answer, 200, ["scopes"])
      assert.deepStrictEqual(
        answer.json.data.scopes,
        scopes.map(({ name, description, tier }) => ({ name, description, tier }))
      )
      assert.strictEqual(answer.json.data.scopes.length, 10)
    })
  )
})
