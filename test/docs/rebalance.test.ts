import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { asTenant } from "#test/support/asTenant.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { finished, TestBallast } from "#test/support/TestBallast.ts"

layer(TestBallast, { excludeTestServices: true })("a portfolio that holds dollars alone", (it) => {
  it.effect("buys what its strategy says", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const rebalances = yield* Rebalances
      const { operationId } = yield* rebalances.trigger(portfolioId).pipe(asTenant(tenantId))
      const { state } = yield* finished({ tenantId, portfolioId, operationId })
      assert.strictEqual(state, "completed")
      assert.isTrue(market.balance(accounts[0], baseWeth.assetId) > 0n)
    })
  )
})
