/** What the planner makes of preferences, over the real stores and a market in memory. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import * as Decimal from "#domain/Decimal.ts"
import { makeOperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { swapCombinations } from "#test/support/swapCombinations.ts"
import { testSettings, TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/TestChains.ts"

const Planner = RunPlanner.layer.pipe(
  Layer.provide(InTransit.layer),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores)
)

/** A portfolio that holds nothing but 10,000 dollars, 60 percent of which belong elsewhere; and its planned run. */
const planned = Effect.gen(function* () {
  const { accounts, portfolioId, strategyId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
  const operationId = yield* makeOperationId
  yield* (yield* OperationStore).submitManual({
    operationId,
    tenantId,
    portfolioId,
    now: yield* DateTime.now,
    cooldownMs: 0
  })
  const planner = yield* RunPlanner
  const runs = yield* RunStore
  return {
    tenantId,
    strategyId,
    portfolioId,
    account: accounts[0],
    plan: Effect.flatMap(runs.context(operationId), (context) => planner.plan(Option.getOrThrow(context)))
  }
})

layer(Planner, { excludeTestServices: true })("RunPlanner", (it) => {
  it.effect("resolves each preference of each run: strategy, then tenant, then service", () =>
    Effect.gen(function* () {
      const strategies = yield* StrategyStore
      const tenants = yield* TenantConfigurationStore
      const { plan, strategyId, tenantId } = yield* planned
      const dollar = Decimal.one
      // Thresholds far above and below the one trade that there is to make tell which of them was applied.
      for (const [ofStrategy, ofTenant] of [
        [100_000n * dollar, 2n * dollar],
        [2n * dollar, 100_000n * dollar]
      ] as const) {
        const combinations = swapCombinations(
          { slippageBps: 11, priceImpactBps: 12, thresholdUsd: ofStrategy },
          { slippageBps: 21, priceImpactBps: 22, thresholdUsd: ofTenant },
          testSettings.defaultSwap
        )
        for (const { expected, label, strategy, tenant } of combinations) {
          yield* strategies.patchSwap(tenantId, strategyId, strategy)
          yield* tenants.patchPreferences(tenantId, { swap: tenant })
          const { chains, limits } = yield* plan
          const { priceImpactBps, slippageBps, thresholdUsd } = expected
          assert.deepStrictEqual(limits, { slippageBps, priceImpactBps }, label)
          const trades = chains.some(({ legs }) => legs.length > 0)
          assert.strictEqual(trades, thresholdUsd < 10_000n * dollar, label)
        }
      }
    })
  )

  it.effect("leaves alone what is promised to a withdrawal, until that is finished", () =>
    Effect.gen(function* () {
      const { account, plan, portfolioId, tenantId } = yield* planned
      const sold = Effect.map(plan, ({ chains }) =>
        chains.flatMap(({ legs }) => legs).reduce((sum, { sellAmountRaw }) => sum + sellAmountRaw, 0n)
      )
      const all = yield* sold
      assert.isAbove(Number(all), 0)
      const message = yield* messageOf({ portfolioId, tenantId }, account, [[baseUsdc.assetId, 9_000_000_000n]])
      const operationId = yield* acceptWithdrawal({ portfolioId, tenantId }, account, message)
      const left = yield* sold
      // A tenth of the money is free, so a tenth of it is traded.
      assert.isTrue(left * 9n < all && left * 11n > all, `${left} of ${all}`)
      yield* (yield* OperationStore).transition(operationId, "failed", yield* DateTime.now, "refused")
      assert.strictEqual(yield* sold, all)
    })
  )

  it.effect("takes the defaults of the portfolio's own tenant", () =>
    Effect.gen(function* () {
      const tenants = yield* TenantConfigurationStore
      const [one, other] = [yield* planned, yield* planned]
      yield* tenants.patchPreferences(other.tenantId, { swap: { slippageBps: 999 } })
      assert.strictEqual((yield* one.plan).limits.slippageBps, testSettings.defaultSwap.slippageBps)
      assert.strictEqual((yield* other.plan).limits.slippageBps, 999)
    })
  )
})
