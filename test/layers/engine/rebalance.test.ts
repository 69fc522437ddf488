/** The engine over embedded PostgreSQL and a market in memory: outcomes of runs as clients and operators see them. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option, Schedule, Schema } from "effect"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { patience } from "#test/support/suite/patience.ts"

const Engine = Layer.mergeAll(Layer.provide(Rebalances.layer, DryRunLive), SchedulerLive).pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const as = (tenantId: TenantId) => Effect.provideService(PortfolioTenant, { tenantId })

const trigger = (tenantId: TenantId, portfolioId: PortfolioId) =>
  Effect.flatMap(Rebalances, (rebalances) => rebalances.trigger(portfolioId)).pipe(as(tenantId))

const finished = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId, operationId: OperationId) {
  const store = yield* OperationStore
  return yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout(patience)
  )
})

const reportOf = (operationId: OperationId) =>
  Effect.flatMap(RunStore, (runs) => runs.report(operationId)).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport)))
  )

const run = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId) {
  const { operationId } = yield* trigger(tenantId, portfolioId)
  const operation = yield* finished(tenantId, portfolioId, operationId)
  return { operation, report: yield* reportOf(operationId) }
})

layer(Engine, { excludeTestServices: true })("a rebalance", (it) => {
  it.effect("brings both chains on target with one operation a chain", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      const { operation, report } = yield* run(tenantId, portfolioId)
      assert.strictEqual(operation.state, "completed")
      assert.isNotNull(operation.finishedAt)
      assert.deepStrictEqual(
        report.chains.map(({ swaps }) => swaps.length),
        [1, 1]
      )
      for (const [account, weth, usdc] of [
        [accounts[0], baseWeth, baseUsdc],
        [accounts[1], arbWeth, arbUsdc]
      ] as const) {
        const wethUsd = (Number(market.balance(account, weth.assetId)) / 1e18) * 2500
        const usdcUsd = Number(market.balance(account, usdc.assetId)) / 1e6
        assert.closeTo(wethUsd / (wethUsd + usdcUsd), 0.6, 0.001)
      }
      const portfolio = yield* Effect.flatMap(PortfolioStore, (store) => store.find(tenantId, portfolioId))
      assert.isNotNull(Option.getOrThrow(portfolio).schedule?.lastRebalanceAt)
    })
  )

  it.effect("of an empty portfolio completes without a trade", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId } = yield* enrolledPortfolio
      const { operation, report } = yield* run(tenantId, portfolioId)
      assert.strictEqual(operation.state, "completed")
      assert.isTrue(report.chains.every(({ swaps, receipt }) => swaps.length === 0 && receipt === null))
    })
  )

  it.effect("sells what is not in the allocation", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseBtc.assetId, 100_000_000n)
      yield* run(tenantId, portfolioId)
      assert.strictEqual(market.balance(accounts[0], baseBtc.assetId), 0n)
      assert.isTrue(market.balance(accounts[0], baseWeth.assetId) > 0n)
    })
  )

  it.effect("leaves a chain that is down, says so, and completes the other", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      market.down.add(42161)
      const { operation, report } = yield* run(tenantId, portfolioId).pipe(
        Effect.ensuring(Effect.sync(() => market.down.clear()))
      )
      assert.strictEqual(operation.state, "completed")
      assert.deepStrictEqual(
        report.chains.map(({ swaps }) => swaps.length),
        [1, 0]
      )
      assert.include(
        report.chains[1]!.skips.map(({ code }) => code),
        "CHAIN_UNAVAILABLE"
      )
    })
  )

  it.effect("tries again after a revert, which moved nothing", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.reverts.set(8453, 2)
      const { operation, report } = yield* run(tenantId, portfolioId)
      assert.strictEqual(operation.state, "completed")
      assert.isTrue(report.chains[0]!.receipt?.success)
    })
  )

  it.effect("fails with a reason after three reverts, and the portfolio is free for the next run", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.reverts.set(8453, 3)
      const { operation } = yield* run(tenantId, portfolioId)
      assert.strictEqual(operation.state, "failed")
      assert.include(operation.error ?? "", "reverted")
      assert.strictEqual(market.balance(accounts[0], baseUsdc.assetId), 10_000_000_000n)
    })
  )

  it.effect("answers the same operation to concurrent triggers, and then a cooldown", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const operations = yield* Effect.all(
        Array.from({ length: 5 }, () => trigger(tenantId, portfolioId)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(operations.map(({ operationId }) => operationId)).size, 1)
      yield* finished(tenantId, portfolioId, operations[0]!.operationId)
      const refused = yield* Effect.flip(trigger(tenantId, portfolioId))
      assert.strictEqual(refused._tag, "RateLimited")
      assert.isTrue(refused._tag === "RateLimited" && refused.retryAfterSeconds >= 1 && refused.retryAfterSeconds <= 60)
    })
  )

  it.effect("aims at the newest strategy version", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, strategyId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const createdAt = yield* DateTime.now
      yield* Effect.flatMap(StrategyStore, (store) =>
        store.publish({
          strategyId,
          allocation: [{ assetId: baseBtc.assetId, weight: 10_000 }],
          changeLog: null,
          createdAt
        })
      )
      yield* run(tenantId, portfolioId)
      assert.strictEqual(market.balance(accounts[0], baseUsdc.assetId), 0n)
      const portfolio = yield* Effect.flatMap(PortfolioStore, (store) => store.find(tenantId, portfolioId))
      assert.strictEqual(Option.getOrThrow(portfolio).strategyVersion, 2)
    })
  )

  it.effect("comes by itself when it is due, once, however many periods were missed", () =>
    Effect.gen(function* () {
      const { tenantId, portfolioId, accounts } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      const portfolios = yield* PortfolioStore
      const overdue = DateTime.subtract(yield* DateTime.now, { days: 3, hours: 12 })
      yield* portfolios.stop(tenantId, portfolioId, { at: overdue, note: null })
      yield* portfolios.start(tenantId, portfolioId, overdue)
      const before = market.included.size
      const portfolio = yield* portfolios.find(tenantId, portfolioId).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.filterOrFail(({ schedule }) => schedule?.lastRebalanceAt != null),
        Effect.retry(Schedule.spaced("50 millis")),
        Effect.timeout(patience)
      )
      assert.isTrue(portfolio.schedule!.nextDueAt.epochMilliseconds > (yield* DateTime.now).epochMilliseconds)
      yield* Effect.sleep("300 millis")
      assert.strictEqual(market.included.size, before + 1)
    })
  )
})
