/** Every skip of a plan that contains an amount says it. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import type { SkipCode } from "#domain/values/Skip.ts"
import { codesOfPlans } from "#test/domain/planning/codesOfPlans.ts"
import { usd } from "#test/domain/planning/examples.ts"
import { policyPortfolio } from "#test/domain/planning/policies.ts"
import { assetAt, portfolio } from "#test/domain/rebalance/portfolios.ts"

const figure = /[0-9]+\.[0-9]{2,4} USD/u

/** The figures of a reason, and of the amount that the skip contains, cut as reasons cut theirs. */
const figures = (reason: string) => reason.match(/[0-9]+\.[0-9]{2,4}(?= USD)/gu) ?? []
const cut = (wad: bigint, places: number) => Decimal.format(wad < 0n ? -wad : wad, places)

describe("skips name their figures", () => {
  it("every skip of a plan that contains an amount says it, whatever its code", () => {
    const seen = new Set<SkipCode>()
    const check = (input: PlanInput) => {
      for (const { skips } of plan(input).chains) {
        for (const { code, reason, valueUsd } of skips) {
          if (valueUsd === null) continue
          seen.add(code)
          assert.match(reason, figure, `${code}: ${reason}`)
          assert.isTrue(
            figures(reason).some((figure) => figure === cut(valueUsd, 2) || figure === cut(valueUsd, 4)),
            `${code} of ${cut(valueUsd, 4)}: ${reason}`
          )
        }
      }
    }
    fc.assert(fc.property(portfolio(), check), { numRuns: 600 })
    fc.assert(fc.property(policyPortfolio(), check), { numRuns: 600 })
    fc.assert(
      fc.property(portfolio({ isFine: true }), (input) => {
        const foreignAuthority = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
        const chains = input.chains.map(({ holdings, ...chain }) => ({
          ...chain,
          holdings: holdings.map((one, index) => (index === 0 ? { ...one, foreignAuthority } : one))
        }))
        check({ ...input, chains })
      }),
      { numRuns: 300 }
    )
    fc.assert(
      fc.property(policyPortfolio({ isFine: true, isFree: true }), (input) =>
        check({ ...input, policy: { ...input.policy!, maxCostUsd: usd("2") } })
      ),
      { numRuns: 300 }
    )
    fc.assert(
      fc.property(portfolio({ isFine: true, chains: 2 }), fc.integer({ min: 1, max: 5_000 }), (input, dollars) => {
        const assets = new Map(input.chains.map(({ chainId }) => [chainId, assetAt(chainId, 0)]))
        const chains = input.chains.map((chain) => ({
          ...chain,
          holdings: chain.holdings.map((one, index) => (index === 0 ? { ...one, incomingRaw: one.balanceRaw } : one))
        }))
        check({ ...input, chains, transfers: { assets, feeBps: 10, minUsd: usd(String(dollars)) } })
      }),
      { numRuns: 600 }
    )
    assert.deepStrictEqual([...seen].sort(), [...codesOfPlans].sort())
  })
})
