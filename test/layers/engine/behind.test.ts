/** Runs on a chain of which all nodes are behind what the service knows, over a market in memory. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { attentionOf } from "#domain/portfolio/Attention.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { history } from "#test/support/acceptedWithdrawal.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { patience } from "#test/support/suite/patience.ts"

const timing = { searchFor: Duration.millis(500), searchInterval: Duration.millis(20), holdFor: Duration.minutes(5) }

const Engine = Layer.mergeAll(Layer.provide(Rebalances.layer, DryRunLive), SchedulerLive).pipe(
  Layer.provideMerge(EngineLive),
  Layer.provide(Layer.succeed(RelayTiming, timing)),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

/** A run on a chain whose nodes are all behind, once it waits for them. */
const waiting = Effect.gen(function* () {
  const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  const [account] = accounts
  market.fund(account, baseUsdc.assetId, 10_000_000_000n)
  market.behind.add(baseUsdc.chainId)
  const { operationId } = yield* Effect.flatMap(Rebalances, (rebalances) => rebalances.trigger(portfolioId)).pipe(
    Effect.provideService(PortfolioTenant, { tenantId })
  )
  const operation = Effect.map(
    Effect.flatMap(OperationStore, (store) => store.find(tenantId, portfolioId, operationId)),
    Option.getOrThrow
  )
  yield* history(operationId).pipe(
    Effect.filterOrFail((events) => events.includes("reading_waits")),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )
  const finished = operation.pipe(
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )
  return { finished, market, operation, operationId, portfolioId, tenantId }
})

layer(Engine, { excludeTestServices: true })("a run whose operation is on its way without an end", (it) => {
  it.effect("lets nothing else trade: no other run begins, and a swap of the owner waits until it is known", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      const [account] = accounts
      market.fund(account, baseUsdc.assetId, 10_000_000_000n)
      market.minReplacements = 1
      market.maxReplacements = 0
      const rebalances = yield* Rebalances
      const as = Effect.provideService(PortfolioTenant, { tenantId })
      const { operationId } = yield* as(rebalances.trigger(portfolioId))
      const until = (id: OperationId, kind: string) =>
        history(id).pipe(
          Effect.filterOrFail((events) => events.includes(kind)),
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout(patience)
        )
      yield* until(operationId, "receipt_waits")
      const swapId = yield* acceptSwap({ portfolioId, tenantId }, account, { amountRaw: 200_000_000n })
      yield* (yield* OperationLauncher).launch({ operationId: swapId, kind: "swap" })
      yield* until(swapId, "waiting_for_account")
      assert.strictEqual((yield* as(rebalances.trigger(portfolioId))).operationId, operationId, "the one that waits")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE schedules SET due_at = timestamptz '2026-01-01T00:00:00Z' WHERE portfolio_id = ${portfolioId}`
      yield* (yield* Scheduler).tick
      yield* Effect.sleep("500 millis")
      assert.strictEqual(new Set(market.broadcasts).size, 1, "the bytes of the one operation, again and again")
      const operations = yield* sql<{ readonly kind: string; readonly state: string }>`
        SELECT kind, state FROM operations WHERE portfolio_id = ${portfolioId} ORDER BY submitted_at`
      assert.deepStrictEqual(
        operations.map(({ kind, state }) => `${kind} ${state}`),
        ["rebalance retrying", "swap running"]
      )
      market.minReplacements = 0
      yield* until(operationId, "completed")
      yield* until(swapId, "completed")
      assert.strictEqual(market.included.size, 2)
      market.maxReplacements = 10
    })
  )
})

layer(Engine, { excludeTestServices: true })("a run whose chain can only be read as it was", (it) => {
  it.effect("waits as retrying with its reason, trades nothing meanwhile, and goes on when a node has caught up", () =>
    Effect.gen(function* () {
      const { finished, market, operation, operationId, portfolioId, tenantId } = yield* waiting
      const { state } = yield* operation
      assert.strictEqual(state, "retrying")
      assert.deepStrictEqual(market.broadcasts, [])
      const portfolio = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      const found = attentionOf(portfolio.facts, yield* DateTime.now)
      const attention = found.find(({ code }) => code === "chain_behind")
      assert.deepInclude(attention, { actor: "operator", operationId })
      assert.include(attention!.action, "the only node is behind")
      market.behind.clear()
      assert.strictEqual((yield* finished).state, "completed")
      assert.strictEqual(market.broadcasts.length, 1)
      assert.deepStrictEqual(
        (yield* history(operationId)).filter((kind) => kind === "reading_waits"),
        ["reading_waits"]
      )
    })
  )
})
