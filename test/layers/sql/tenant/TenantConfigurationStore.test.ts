import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { makeTenantId } from "#domain/values/Ids.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import type { TenantPreferences, TenantPreferencesPatch } from "#domain/tenant/TenantPreferences.ts"
import { eachDatabase } from "#test/support/database.ts"
import { insertTenant } from "#test/layers/sql/fixtures.ts"

const unset: TenantPreferences = {
  swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  schedule: null
}

eachDatabase("TenantConfigurationStore", (it) => {
  it.effect("has nothing configured for a new tenant, nor for an unknown one", () =>
    Effect.gen(function* () {
      const store = yield* TenantConfigurationStore
      for (const tenantId of [yield* insertTenant, yield* makeTenantId]) {
        assert.deepStrictEqual(yield* store.preferences(tenantId), unset)
        assert.deepStrictEqual(yield* store.fee(tenantId), { swapBps: null })
      }
    })
  )

  it.effect("merges field by field, exactly, and clears by null", () =>
    Effect.gen(function* () {
      const store = yield* TenantConfigurationStore
      const [tenantId, other] = [yield* insertTenant, yield* insertTenant]
      const daily = { type: "interval", frequency: "daily" } as const
      const swap = { slippageBps: 0, priceImpactBps: null, thresholdUsd: null }
      const steps: ReadonlyArray<readonly [TenantPreferencesPatch, TenantPreferences]> = [
        [{}, unset],
        [{ swap: {} }, unset],
        [{ swap: { slippageBps: 0 } }, { swap, schedule: null }],
        [{ schedule: daily }, { swap, schedule: daily }],
        [{ swap: { thresholdUsd: 1n } }, { swap: { ...swap, thresholdUsd: 1n }, schedule: daily }],
        [
          { swap: { thresholdUsd: null }, schedule: null },
          { swap, schedule: null }
        ],
        [{ swap: { slippageBps: null } }, unset]
      ]
      for (const [patch, expected] of steps) {
        assert.deepStrictEqual(yield* store.patchPreferences(tenantId, patch), expected)
        assert.deepStrictEqual(yield* store.preferences(tenantId), expected)
      }
      assert.deepStrictEqual(yield* store.patchFee(tenantId, { swapBps: 300 }), { swapBps: 300 })
      assert.deepStrictEqual(yield* store.patchFee(tenantId, {}), { swapBps: 300 })
      assert.deepStrictEqual(yield* store.fee(other), { swapBps: null })
      assert.deepStrictEqual(yield* store.patchFee(tenantId, { swapBps: null }), { swapBps: null })
    })
  )

  it.effect("concurrent patches of different fields all last", () =>
    Effect.gen(function* () {
      const store = yield* TenantConfigurationStore
      for (let round = 0; round < 10; round++) {
        const tenantId = yield* insertTenant
        const patches: ReadonlyArray<TenantPreferencesPatch> = [
          { swap: { slippageBps: 1 } },
          { swap: { priceImpactBps: 2 } },
          { swap: { thresholdUsd: 3n } },
          { schedule: { type: "interval", frequency: "weekly" } }
        ]
        yield* Effect.all(
          [
            ...patches.map((patch) => store.patchPreferences(tenantId, patch)),
            store.patchFee(tenantId, { swapBps: 4 })
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* store.preferences(tenantId), {
          swap: { slippageBps: 1, priceImpactBps: 2, thresholdUsd: 3n },
          schedule: { type: "interval", frequency: "weekly" }
        })
        assert.deepStrictEqual(yield* store.fee(tenantId), { swapBps: 4 })
      }
    })
  )

  it.effect("the database itself refuses a fee above its bound", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const exit = yield* Effect.exit(sql`UPDATE tenants SET swap_fee_bps = 301 WHERE tenant_id = ${tenantId}`)
      assert.isTrue(Exit.isFailure(exit))
    })
  )
})
