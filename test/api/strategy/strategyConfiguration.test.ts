import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { type Actor, enroll, newStrategy, newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"

const unknownId = "01JQ8ZKX4V6T3M9N2C5B7D8F0G"
const hour = 3_600_000

const as = ({ key }: Pick<Actor, "key">, strategyId: string) => {
  const at = (method: string, suffix: string, body?: unknown) =>
    Effect.flatMap(Api, ({ call }) => call(method, `/v2/strategies/${strategyId}/${suffix}`, { key, body }))
  return { get: (suffix: string) => at("GET", suffix), send: at }
}

const every = (frequency: string) => ({ type: "interval", frequency })

layer(ApiLive, { excludeTestServices: true })("configuration of a strategy", (it) => {
  it.effect("its schedule is read and replaced", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const { get, send } = as(actor, yield* newStrategy(actor))
      assertData(yield* get("schedule"), 200, ["type", "frequency"])
      for (const frequency of ["hourly", "weekly", "monthly", "daily", "daily"]) {
        const set = yield* send("PUT", "schedule", every(frequency))
        assertData(set, 200, ["type", "frequency"])
        assert.deepStrictEqual(set.json.data, every(frequency))
        assert.deepStrictEqual((yield* get("schedule")).json.data, every(frequency))
      }
    })
  )

  it.effect("a schedule that is none is refused", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const { send } = as(actor, yield* newStrategy(actor))
      const whole = `body: Expected an object`
      const refused: ReadonlyArray<readonly [unknown, string]> = [
        [{}, whole],
        [{ type: "interval" }, "frequency: "],
        [{ frequency: "daily" }, whole],
        [every("yearly"), "frequency: "],
        [{ ...every("daily"), at: "noon" }, "at: "],
        [{ ...every("daily"), type: "cron" }, whole]
      ]
      for (const [body, detail] of refused) assertError(yield* send("PUT", "schedule", body), ValidationFailed, detail)
    })
  )

  it.effect(
    "a new schedule reaches every portfolio from the cycle that it is in: sooner where it is shorter, later where it is longer",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const sql = yield* SqlClient.SqlClient
        const actor = yield* newTenant()
        const strategyId = yield* newStrategy(actor, { schedule: every("monthly") })
        const { send } = as(actor, strategyId)
        const [active, paused] = [yield* enroll(actor, strategyId), yield* enroll(actor, strategyId)]
        const scheduleOf = ({ portfolioId }: typeof active) =>
          Effect.map(call("GET", `/v2/portfolios/${portfolioId}`, { key: actor.key }), ({ json }) => json.data.schedule)
        yield* call("POST", `/v2/portfolios/${paused.portfolioId}/stop`, { key: actor.key })
        const inTwentyDays = new Date((yield* Clock.currentTimeMillis) + 480 * hour)
        const cycleBegan = new Date(inTwentyDays.getTime() - 720 * hour)
        yield* sql`
          UPDATE schedules SET due_at = ${inTwentyDays}, checked_at = ${cycleBegan}
          WHERE portfolio_id IN (${active.portfolioId}, ${paused.portfolioId})`
        /** Intervals after the beginning of the cycle, and up to an hour. */
        const assertDue = ({ nextDueAt }: { readonly nextDueAt: string }, after: number) => {
          const late = Date.parse(nextDueAt) - cycleBegan.getTime() - after
          assert.isTrue(late >= 0 && late <= hour, `${late} ms`)
        }

        yield* send("PUT", "schedule", every("weekly"))
        const sooner = yield* scheduleOf(active)
        assert.deepInclude(sooner, { frequency: "weekly", intervalMs: 168 * hour })
        assertDue(sooner, 2 * 168 * hour)
        const waiting = yield* scheduleOf(paused)
        assert.deepInclude(waiting, { status: "paused", frequency: "weekly", nextDueAt: inTwentyDays.toISOString() })

        yield* send("PUT", "schedule", every("monthly"))
        assertDue(yield* scheduleOf(active), 720 * hour)
      })
  )

  it.effect("its preferences are merged field by field, cleared by null, and kept by what says nothing", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const { get, send } = as(actor, yield* newStrategy(actor))
      const steps: ReadonlyArray<readonly [patch: unknown, swap: Record<string, unknown>]> = [
        [{}, { slippageBps: 50, priceImpactBps: null, thresholdUsd: "5.00" }],
        [{ swap: {} }, { slippageBps: 50, priceImpactBps: null, thresholdUsd: "5.00" }],
        [{ swap: { priceImpactBps: 0 } }, { slippageBps: 50, priceImpactBps: 0, thresholdUsd: "5.00" }],
        [{ swap: { slippageBps: null } }, { slippageBps: null, priceImpactBps: 0, thresholdUsd: "5.00" }],
        [
          { swap: { slippageBps: 1000, thresholdUsd: "0.000001" } },
          { slippageBps: 1000, priceImpactBps: 0, thresholdUsd: "0.000001" }
        ],
        [
          { swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null } },
          { slippageBps: null, priceImpactBps: null, thresholdUsd: null }
        ]
      ]
      for (const [patch, swap] of steps) {
        const answer = yield* send("PATCH", "preferences", patch)
        assertData(answer, 200, ["swap"])
        assert.deepStrictEqual(answer.json.data, { swap })
        assert.deepStrictEqual((yield* get("preferences")).json.data, { swap })
      }
    })
  )

  it.effect("preferences out of their ranges, and keys that are none, are refused", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const { get, send } = as(actor, yield* newStrategy(actor))
      const before = (yield* get("preferences")).text
      const refused: ReadonlyArray<readonly [unknown, string]> = [
        [{ schedule: every("daily") }, "schedule: "],
        [{ swap: null }, "swap: "],
        [{ swap: { slippageBps: -1 } }, "swap.slippageBps: "],
        [{ swap: { slippageBps: 1001 } }, "swap.slippageBps: "],
        [{ swap: { priceImpactBps: 1.5 } }, "swap.priceImpactBps: "],
        [{ swap: { thresholdUsd: 5 } }, "swap.thresholdUsd: "],
        [{ swap: { thresholdUsd: "-1" } }, "swap.thresholdUsd: "],
        [{ swap: { slippageBps: 1, maxHops: 2 } }, "swap.maxHops: "]
      ]
      for (const [body, detail] of refused) {
        assertError(yield* send("PATCH", "preferences", body), ValidationFailed, detail)
      }
      assert.strictEqual((yield* get("preferences")).text, before)
    })
  )

  it.effect("its fee is unset at first, set, kept, and cleared", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const { get, send } = as(actor, yield* newStrategy(actor))
      assert.deepStrictEqual((yield* get("fees")).json.data, { swapBps: null })
      for (const [patch, swapBps] of [
        [{ swapBps: 300 }, 300],
        [{}, 300],
        [{ swapBps: 0 }, 0],
        [{ swapBps: null }, null]
      ] as const) {
        const answer = yield* send("PATCH", "fees", patch)
        assertData(answer, 200, ["swapBps"])
        assert.deepStrictEqual(answer.json.data, { swapBps })
        assert.deepStrictEqual((yield* get("fees")).json.data, { swapBps })
      }
      for (const [body, detail] of [
        [{ swapBps: 301 }, "swapBps: "],
        [{ swapBps: -1 }, "swapBps: "],
        [{ swapBps: "25" }, "swapBps: "],
        [{ withdrawBps: 1 }, "withdrawBps: "]
      ] as const) {
        assertError(yield* send("PATCH", "fees", body), ValidationFailed, detail)
      }
    })
  )

  it.effect("a public strategy shows its creator's schedule and preferences to all, and its fee to nobody else", () =>
    Effect.gen(function* () {
      const [owner, stranger] = [yield* newTenant(), yield* newTenant()]
      const open = yield* newStrategy(owner, { isPublic: true })
      yield* as(owner, open).send("PATCH", "fees", { swapBps: 20 })
      for (const part of ["schedule", "preferences"]) {
        assert.strictEqual((yield* as(stranger, open).get(part)).text, (yield* as(owner, open).get(part)).text)
      }
      const foreign = yield* as(stranger, open).get("fees")
      assertError(foreign, NotFound)
      const missing = yield* as(stranger, unknownId).get("fees")
      assert.strictEqual(foreign.text, missing.text.replace(unknownId, open))
      const reader = { key: yield* readOnlyKey(stranger) }
      assert.strictEqual((yield* as(reader, open).get("preferences")).status, 200)
    })
  )

  it.effect("reads of a private foreign strategy are answered like those of a missing one", () =>
    Effect.gen(function* () {
      const [owner, stranger] = [yield* newTenant(), yield* newTenant()]
      const closed = yield* newStrategy(owner)
      for (const part of ["schedule", "preferences", "fees"]) {
        const foreign = yield* as(stranger, closed).get(part)
        assertError(foreign, NotFound)
        assert.strictEqual(foreign.text, (yield* as(stranger, unknownId).get(part)).text.replace(unknownId, closed))
        assertError(yield* as(stranger, "x").get(part), ValidationFailed, "strategyId: ")
      }
    })
  )
})
