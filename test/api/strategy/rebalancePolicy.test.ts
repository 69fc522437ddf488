/** Rebalance policies over the interface: strategies, tenants, and what is refused. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

const whole = {
  band: { kind: "auto", riskAversion: 20 },
  overrides: [{ assetId: usdc, band: { kind: "absolute", width: 500 } }],
  tradeTo: "half",
  minTrade: { usd: "12.50", gasMultiple: 20 },
  maxCostBps: { run: 30, week: 60 },
  cashFlow: "whole",
  slicing: { poolShareBps: 200 }
}

const patched = Effect.fnUntraced(function* (path: string, key: string, rebalancePolicy: unknown) {
  const { call } = yield* Api
  return yield* call("PATCH", path, { key, body: { rebalancePolicy } })
})

layer(ApiLive, { excludeTestServices: true })("rebalance policies", (it) => {
  it.effect("a strategy is created with one, shows it as it was sent, and loses it by null", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const strategyId = yield* newStrategy({ key }, { preferences: { rebalancePolicy: whole } })
      const path = `/v2/strategies/${strategyId}`
      const read = yield* call("GET", path, { key })
      assert.deepStrictEqual(read.json.data.preferences.rebalancePolicy, whole)
      const listed = yield* call("GET", "/v2/strategies", { key })
      assert.deepStrictEqual(listed.json.data.strategies[0].preferences.rebalancePolicy, whole)
      const replaced = yield* patched(`${path}/preferences`, key, { band: { kind: "relative", width: 1_000 } })
      assert.deepStrictEqual(replaced.json.data.rebalancePolicy, { band: { kind: "relative", width: 1_000 } })
      yield* call("PATCH", `${path}/preferences`, { key, body: { swap: { slippageBps: 10 } } })
      const kept = yield* call("GET", `${path}/preferences`, { key })
      assert.deepStrictEqual(kept.json.data.rebalancePolicy, { band: { kind: "relative", width: 1_000 } })
      yield* patched(`${path}/preferences`, key, null)
      const cleared = yield* call("GET", `${path}/preferences`, { key })
      assert.hasAllKeys(cleared.json.data, ["swap"])
    })
  )

  it.effect("a tenant has one for strategies without, and a strategy without shows none", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      yield* patched("/v2/tenant/preferences", actor.key, whole)
      const read = yield* call("GET", "/v2/tenant/preferences", { key: actor.key })
      assert.deepStrictEqual(read.json.data.rebalancePolicy, whole)
      const strategyId = yield* newStrategy(actor)
      const { json } = yield* call("GET", `/v2/strategies/${strategyId}`, { key: actor.key })
      assert.isUndefined(json.data.preferences.rebalancePolicy)
      yield* patched("/v2/tenant/preferences", actor.key, null)
      const cleared = yield* call("GET", "/v2/tenant/preferences", { key: actor.key })
      assert.isUndefined(cleared.json.data.rebalancePolicy)
    })
  )

  it.effect("values out of range are refused with the field and the range, and change nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const path = `/v2/strategies/${yield* newStrategy(actor)}/preferences`
      const band = { kind: "auto" }
      const refused: ReadonlyArray<readonly [object, string]> = [
        [{}, "rebalancePolicy.band: "],
        [{ band: { kind: "relative" } }, "rebalancePolicy.band.width: Expected a whole number from 1 to 10000"],
        [
          { band: { kind: "absolute", width: 0 } },
          "rebalancePolicy.band.width: Expected a whole number from 1 to 10000"
        ],
        [
          { band: { kind: "absolute", width: 10_001 } },
          "rebalancePolicy.band.width: Expected a whole number from 1 to 10000"
        ],
        [{ band: { kind: "auto", width: 100 } }, "rebalancePolicy.band.width: Expected no width"],
        [{ band: { kind: "relative", width: 1, riskAversion: 1 } }, "rebalancePolicy.band.riskAversion: Expected no"],
        [
          { band: { kind: "auto", riskAversion: 1_000_001 } },
          "rebalancePolicy.band.riskAversion: Expected a whole number from 1 to 1000000"
        ],
        [{ band, maxCostBps: { run: 0 } }, "rebalancePolicy.maxCostBps.run: Expected a whole number from 1 to 10000"],
        [{ band, minTrade: { gasMultiple: 1.5 } }, "rebalancePolicy.minTrade.gasMultiple: "],
        [{ band, minTrade: { usd: "-1" } }, "rebalancePolicy.minTrade.usd: "],
        [
          { band, slicing: { poolShareBps: 5_001 } },
          "rebalancePolicy.slicing.poolShareBps: Expected a whole number from 1 to 5000"
        ],
        [{ band, tradeTo: "middle" }, "rebalancePolicy.tradeTo: "],
        [{ band, cashFlow: "later" }, "rebalancePolicy.cashFlow: "],
        [
          {
            band,
            overrides: [
              { assetId: usdc, band },
              { assetId: usdc, band }
            ]
          },
          "rebalancePolicy.overrides.1.assetId: "
        ],
        [{ band, unknown: 1 }, "rebalancePolicy.unknown: "]
      ]
      for (const [policy, detail] of refused)
        assertError(yield* patched(path, actor.key, policy), ValidationFailed, detail)
      const { json } = yield* call("GET", path, { key: actor.key })
      assert.isUndefined(json.data.rebalancePolicy)
    })
  )
})
