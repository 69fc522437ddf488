import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { type Actor, fillCatalogue, newTenant, strategyBody } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"

const unset = { swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null }, schedule: null }
const daily = { type: "interval", frequency: "daily" }
const hourly = { type: "interval", frequency: "hourly" }

const preferences = ({ key }: Actor, body?: unknown) =>
  Effect.flatMap(Api, ({ call }) => call(body === undefined ? "GET" : "PATCH", "/v2/tenant/preferences", { key, body }))

const fees = ({ key }: Actor, body?: unknown) =>
  Effect.flatMap(Api, ({ call }) => call(body === undefined ? "GET" : "PATCH", "/v2/tenant/fees", { key, body }))

layer(ApiLive, { excludeTestServices: true })("tenant", (it) => {
  it.effect("nothing is configured at first", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const first = yield* preferences(actor)
      assertData(first, 200, ["swap", "schedule"])
      assert.deepStrictEqual(first.json.data, unset)
      const fee = yield* fees(actor)
      assertData(fee, 200, ["swapBps"])
      assert.deepStrictEqual(fee.json.data, { swapBps: null })
    })
  )

  it.effect("preferences are merged field by field; null clears; what says nothing changes nothing", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const swap = { slippageBps: 30, priceImpactBps: null, thresholdUsd: null }
      const steps: ReadonlyArray<readonly [patch: unknown, data: unknown]> = [
        [{}, unset],
        [{ swap: {} }, unset],
        [{ swap: { slippageBps: 30 } }, { swap, schedule: null }],
        [{ schedule: daily }, { swap, schedule: daily }],
        [{ swap: { thresholdUsd: "12.5" } }, { swap: { ...swap, thresholdUsd: "12.50" }, schedule: daily }],
        [
          { schedule: hourly, swap: { thresholdUsd: null } },
          { swap, schedule: hourly }
        ],
        [{ schedule: null }, { swap, schedule: null }],
        [{ swap: { slippageBps: null } }, unset]
      ]
      for (const [patch, data] of steps) {
        const answer = yield* preferences(actor, patch)
        assertData(answer, 200, ["swap", "schedule"])
        assert.deepStrictEqual(answer.json.data, data)
        assert.deepStrictEqual((yield* preferences(actor)).json.data, data)
      }
    })
  )

  it.effect("preferences that are not of their form are refused", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const refused: ReadonlyArray<readonly [unknown, string]> = [
        [{ swap: null }, "swap: "],
        [{ swap: { slippageBps: 1001 } }, "swap.slippageBps: "],
        [{ swap: { priceImpactBps: "1" } }, "swap.priceImpactBps: "],
        [{ swap: { thresholdUsd: "1.0000001" } }, "swap.thresholdUsd: "],
        [{ swap: { more: 1 } }, "swap.more: "],
        [{ schedule: {} }, "schedule: Expected "],
        [{ schedule: { type: "interval" } }, "schedule.frequency: "],
        [{ schedule: { type: "interval", frequency: "yearly" } }, "schedule.frequency: "],
        [{ schedule: { ...daily, at: 1 } }, "schedule.at: "],
        [{ fees: {} }, "fees: "]
      ]
      for (const [body, detail] of refused) assertError(yield* preferences(actor, body), ValidationFailed, detail)
      assert.deepStrictEqual((yield* preferences(actor)).json.data, unset)
    })
  )

  it.effect("the fee is set, kept, and cleared", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      for (const [patch, swapBps] of [
        [{ swapBps: 25 }, 25],
        [{}, 25],
        [{ swapBps: 0 }, 0],
        [{ swapBps: 300 }, 300],
        [{ swapBps: null }, null]
      ] as const) {
        const answer = yield* fees(actor, patch)
        assertData(answer, 200, ["swapBps"])
        assert.deepStrictEqual(answer.json.data, { swapBps })
        assert.deepStrictEqual((yield* fees(actor)).json.data, { swapBps })
      }
      for (const [body, detail] of [
        [{ swapBps: 301 }, "swapBps: "],
        [{ swapBps: -1 }, "swapBps: "],
        [{ swapBps: 2.5 }, "swapBps: "],
        [{ bps: 1 }, "bps: "]
      ] as const) {
        assertError(yield* fees(actor, body), ValidationFailed, detail)
      }
    })
  )

  it.effect("tenants do not see each other's", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* newTenant(), yield* newTenant()]
      yield* preferences(one, { swap: { slippageBps: 7 }, schedule: daily })
      yield* fees(one, { swapBps: 7 })
      assert.deepStrictEqual((yield* preferences(other)).json.data, unset)
      assert.deepStrictEqual((yield* fees(other)).json.data, { swapBps: null })
    })
  )

  it.effect("concurrent patches of different fields all last", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const patches = [
        { swap: { slippageBps: 1 } },
        { swap: { priceImpactBps: 2 } },
        { swap: { thresholdUsd: "3.00" } },
        { schedule: daily }
      ]
      yield* Effect.forEach(patches, (body) => preferences(actor, body), { concurrency: "unbounded" })
      assert.deepStrictEqual((yield* preferences(actor)).json.data, {
        swap: { slippageBps: 1, priceImpactBps: 2, thresholdUsd: "3.00" },
        schedule: daily
      })
    })
  )

  it.effect("a strategy without a schedule gets the tenant's, and is refused when there is none", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      const actor = yield* newTenant()
      const { schedule: _, ...body } = strategyBody
      const send = (path: string, more = {}) =>
        call("POST", `/v2/strategies${path}`, { key: actor.key, body: { ...body, ...more } })
      for (const path of ["", "/validate"]) assertError(yield* send(path), ValidationFailed, "schedule: required")

      yield* preferences(actor, { schedule: hourly })
      assert.strictEqual((yield* send("/validate")).status, 200)
      const byDefault = yield* send("")
      assert.strictEqual(byDefault.status, 201)
      assert.deepStrictEqual(byDefault.json.data.schedule, hourly)
      assert.deepStrictEqual((yield* send("", { schedule: daily })).json.data.schedule, daily)

      // Given at creation: a later default changes no strategy that exists.
      yield* preferences(actor, { schedule: null })
      const read = yield* call("GET", `/v2/strategies/${byDefault.json.data.strategyId}`, { key: actor.key })
      assert.deepStrictEqual(read.json.data.schedule, hourly)
      assertError(yield* send("", { schedule: null }), ValidationFailed, "schedule: ")
    })
  )
})
