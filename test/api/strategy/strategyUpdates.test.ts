import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { strategyFields } from "#test/api/support/strategyFields.ts"

const unknownId = "01JQ8ZKX4V6T3M9N2C5B7D8F0G"

layer(ApiLive, { excludeTestServices: true })("PATCH /v2/strategies/{strategyId}", (it) => {
  const changes: ReadonlyArray<Record<string, unknown>> = [
    { name: "Renamed" },
    { description: null },
    { description: "" },
    { isPublic: true },
    { name: "x", description: "y", isPublic: true },
    {}
  ]

  for (const change of changes) {
    it.effect(`${JSON.stringify(change)} sets just that, and answers the whole strategy`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const actor = yield* newTenant()
        const strategyId = yield* newStrategy(actor)
        const path = `/v2/strategies/${strategyId}`
        const before = (yield* call("GET", path, { key: actor.key })).json.data
        const patched = yield* call("PATCH", path, { key: actor.key, body: change })
        assertData(patched, 200, strategyFields)
        assert.deepStrictEqual(patched.json.data, { ...before, ...change })
        assert.deepStrictEqual((yield* call("GET", path, { key: actor.key })).json.data, patched.json.data)
      })
    )
  }

  const refused: ReadonlyArray<readonly [body: unknown, detail: string]> = [
    [{ name: null }, "name: "],
    [{ name: "" }, "name: "],
    [{ name: "x".repeat(257) }, "name: "],
    [{ description: "x".repeat(2001) }, "description: "],
    [{ isPublic: null }, "isPublic: "],
    [{ isPublic: "yes" }, "isPublic: "],
    [{ allocation: { assets: [] } }, "allocation: "],
    [{ schedule: { type: "interval", frequency: "daily" } }, "schedule: "],
    [{ preferences: {} }, "preferences: "],
    [{ version: 2 }, "version: "],
    [{ canMirror: true }, "canMirror: "],
    [{ maxApy: "10.00" }, "maxApy: "]
  ]

  it.effect("refuses what is not of its form, and changes nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const path = `/v2/strategies/${yield* newStrategy(actor)}`
      const before = (yield* call("GET", path, { key: actor.key })).text
      for (const [body, detail] of refused) {
        assertError(yield* call("PATCH", path, { key: actor.key, body }), ValidationFailed, detail)
      }
      for (const body of [[], "x", null]) {
        assertError(yield* call("PATCH", path, { key: actor.key, body }), ValidationFailed)
      }
      assertError(
        yield* call("PATCH", "/v2/strategies/x", { key: actor.key, body: {} }),
        ValidationFailed,
        "strategyId: "
      )
      assert.strictEqual((yield* call("GET", path, { key: actor.key })).text, before)
    })
  )

  it.effect("a foreign strategy, public or not, is answered like a missing one by every write", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [owner, stranger] = [yield* newTenant(), yield* newTenant()]
      const allocation = { assets: [{ assetId: "x", weight: "y" }] }
      const writes = [
        ["PATCH", "", { name: "mine" }],
        ["PATCH", "", {}],
        ["PUT", "/schedule", { type: "interval", frequency: "hourly" }],
        ["PATCH", "/preferences", { swap: { slippageBps: 1 } }],
        ["PATCH", "/preferences", {}],
        ["PATCH", "/fees", { swapBps: 1 }],
        ["PATCH", "/fees", {}],
        ["POST", "/versions", undefined]
      ] as const
      for (const [method, suffix] of writes) {
        const malformed = yield* call(method, `/v2/strategies/x${suffix}`, { key: stranger.key, body: {} })
        assertError(malformed, ValidationFailed, "strategyId: ")
      }
      for (const isPublic of [false, true]) {
        const strategyId = yield* newStrategy(owner, { isPublic })
        const published = (yield* call("GET", `/v2/strategies/${strategyId}`, { key: owner.key })).json.data.allocation
        const before = (yield* call("GET", `/v2/strategies/${strategyId}`, { key: owner.key })).text
        for (const [method, suffix, sent] of writes) {
          const body = sent ?? { allocation: published }
          const missing = yield* call(method, `/v2/strategies/${unknownId}${suffix}`, { key: stranger.key, body })
          const foreign = yield* call(method, `/v2/strategies/${strategyId}${suffix}`, { key: stranger.key, body })
          assertError(missing, NotFound)
          assert.strictEqual(foreign.text, missing.text.replace(unknownId, strategyId))
        }
        // A body that is not valid is refused before anything is read.
        const invalid = yield* call("POST", `/v2/strategies/${strategyId}/versions`, {
          key: stranger.key,
          body: { allocation }
        })
        assertError(invalid, ValidationFailed)
        assert.strictEqual((yield* call("GET", `/v2/strategies/${strategyId}`, { key: owner.key })).text, before)
      }
    })
  )

  it.effect("concurrent patches of different fields all last", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const path = `/v2/strategies/${yield* newStrategy(actor)}`
      const patches = [{ name: "N" }, { description: "D" }, { isPublic: true }]
      yield* Effect.forEach(patches, (body) => call("PATCH", path, { key: actor.key, body }), {
        concurrency: "unbounded"
      })
      const { description, isPublic, name } = (yield* call("GET", path, { key: actor.key })).json.data
      assert.deepStrictEqual({ name, description, isPublic }, { name: "N", description: "D", isPublic: true })
    })
  )

  it.effect("maxApy is shown with two decimals when it is advertised", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      yield* sql`UPDATE strategies SET max_apy = 7.5 WHERE strategy_id = ${strategyId}`
      const answer = yield* call("GET", `/v2/strategies/${strategyId}`, { key: actor.key })
      assertData(answer, 200, [...strategyFields, "maxApy"])
      assert.strictEqual(answer.json.data.maxApy, "7.50")
    })
  )
})
