import { assert, describe, it } from "@effect/vitest"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import { resolvePolicy } from "#domain/strategy/resolvePolicy.ts"

const ofStrategy: RebalancePolicy = {
  band: { kind: "auto" },
  maxCostBps: { run: 50, week: 80 },
  minTrade: { usd: 5n, gasMultiple: 10 },
  slicing: { poolShareBps: 500 }
}
const ofTenant: RebalancePolicy = {
  band: { kind: "relative", width: 1_000 },
  maxCostBps: { run: 20 },
  minTrade: { usd: 9n },
  slicing: { poolShareBps: 100 }
}

describe("resolvePolicy", () => {
  it("is the strategy's, else the tenant's, else none", () => {
    const own = { isMirrored: false }
    assert.strictEqual(resolvePolicy({ ...own, strategy: ofStrategy, tenant: ofTenant }), ofStrategy)
    assert.strictEqual(resolvePolicy({ ...own, strategy: undefined, tenant: ofTenant }), ofTenant)
    assert.isUndefined(resolvePolicy({ ...own, strategy: undefined, tenant: undefined }))
  })

  it("of somebody else's strategy holds within the caps of the portfolio's own tenant", () => {
    const found = resolvePolicy({ isMirrored: true, strategy: ofStrategy, tenant: ofTenant })
    assert.deepStrictEqual(found, {
      band: { kind: "auto" },
      maxCostBps: { run: 20, week: 80 },
      minTrade: { usd: 9n, gasMultiple: 10 },
      slicing: { poolShareBps: 100 }
    })
    assert.strictEqual(resolvePolicy({ isMirrored: true, strategy: ofStrategy, tenant: undefined }), ofStrategy)
  })
})
