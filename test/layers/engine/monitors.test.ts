/** Waiting workflows over embedded PostgreSQL, the engine, and a market in memory: from a price to a run, and back. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { OperationId, PortfolioId, StrategyId, TenantId, WorkflowId } from "#domain/values/Ids.ts"
import { MonitorDriver } from "#domain/monitor/MonitorDriver.ts"
import { MonitorStore } from "#domain/monitor/MonitorStore.ts"
import { MonitorTicks } from "#domain/monitor/MonitorTicks.ts"
import type { Trigger } from "#domain/monitor/Trigger.ts"
import { Workflows } from "#domain/monitor/Workflows.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { DriftBand } from "#domain/mandate/StrategyTriggers.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

// Sweeps when a test says so, not by itself.
const Engine = Layer.mergeAll(MonitorDriver.layer, Workflows.layer).pipe(
  Layer.provideMerge(MonitorTicks.layer),
  Layer.provide(InTransit.layer),
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

interface Enrolled {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly strategyId: StrategyId
  readonly accounts: readonly [AccountId, AccountId]
}

const dollars = 1_000_000n

/** 3,000 dollars of WETH and 2,000 USDC on each chain: on target to the cent, and checked before. */
const onTarget = Effect.gen(function* () {
  const portfolio: Enrolled = yield* enrolledPortfolio
  const market = yield* TestChain
  for (const [account, weth, usdc] of [
    [portfolio.accounts[0], baseWeth, baseUsdc],
    [portfolio.accounts[1], arbWeth, arbUsdc]
  ] as const) {
    market.fund(account, weth.assetId, 1_200_000_000_000_000_000n)
    market.fund(account, usdc.assetId, 2_000n * dollars)
  }
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE schedules SET checked_at = portfolio_created_at, due_at = portfolio_created_at + interval '30 days'
    WHERE portfolio_id = ${portfolio.portfolioId}`
  return portfolio
})

const setBand = ({ strategyId, tenantId }: Enrolled, band: DriftBand | null) =>
  Effect.flatMap(StrategyStore, (store) =>
    store.update({ tenantId, strategyId }, { triggers: band === null ? null : { drift: { band } } })
  )

const monitorOf = ({ portfolioId }: Enrolled) =>
  Effect.flatMap(MonitorStore, (store) => store.find(portfolioId.replace("pf_", "wf_") as WorkflowId))

const stateOf = (enrolled: Enrolled) => Effect.map(monitorOf(enrolled), (found) => Option.getOrThrow(found).state)

const operationsOf = ({ portfolioId, tenantId }: Enrolled) =>
  Effect.flatMap(OperationStore, (store) => store.list(tenantId, { portfolioId }, { limit: 20, after: null }))

const setEther = (usd: bigint) =>
  Effect.map(TestChain, ({ prices }) => {
    for (const { assetId } of [baseWeth, arbWeth]) prices.set(assetId, usd * Decimal.one)
  })

/** Sweeps until nothing is left to do, so that what a price wakes is checked. */
const sweep = Effect.flatMap(MonitorDriver, (driver) => driver.sweep)

const finished = Effect.fnUntraced(function* (enrolled: Enrolled, count: number) {
  return yield* Effect.flatMap(operationsOf(enrolled), (found) =>
    found.filter(({ finishedAt }) => finishedAt !== null).length === count
      ? Effect.succeed(found)
      : Effect.fail(`${count} runs are not over: ${JSON.stringify(found.map(({ state }) => state))}`)
  ).pipe(Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: patience }))), Effect.orDie)
})

const cleared = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM workflow_monitors`
  yield* setEther(2_500n)
})

layer(Engine, { excludeTestServices: true })("waiting workflows", (it) => {
  it.effect("a drift band fires once when a price leaves it, the run says so, and the workflow waits again", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      yield* setBand(portfolio, { kind: "absolute", width: 300 })
      yield* sweep
      const waiting = yield* stateOf(portfolio)
      assert.strictEqual(waiting.wait, "trigger")
      assert.isTrue(waiting.isArmed)
      assert.lengthOf(yield* operationsOf(portfolio), 0)

      // 33 percent of the portfolio each, for a target of 30: within the band.
      yield* setEther(2_800n)
      yield* sweep
      yield* sweep
      assert.lengthOf(yield* operationsOf(portfolio), 0)

      yield* setEther(3_500n)
      yield* sweep
      yield* sweep
      const [operation, ...others] = yield* operationsOf(portfolio)
      assert.lengthOf(others, 0)
      assert.strictEqual(operation?.trigger, "triggered")
      assert.strictEqual(operation?.firedBy?.kind, "portfolio_drift_from_target")
      assert.strictEqual(operation?.firedBy?.workflowId, portfolio.portfolioId.replace("pf_", "wf_"))
      assert.match(
        operation!.firedBy!.summary,
        /^Drift of Halves: eip155:.* is 16\.12 % of the portfolio, its target 20\.00 % and its band 3\.00 %/
      )

      const [ended] = yield* finished(portfolio, 1)
      assert.strictEqual(ended?.state, "completed")
      assert.strictEqual(ended?.outcome, "traded")
      yield* sweep
      yield* sweep
      const again = yield* stateOf(portfolio)
      assert.strictEqual(again.wait, "trigger")
      assert.isTrue(again.isArmed)
      assert.deepStrictEqual(again.linkedOperationIds, [operation!.operationId])
      assert.isNotNull(again.startedAt)
      // The price stays where it is: nothing more happens.
      yield* sweep
      assert.lengthOf(yield* operationsOf(portfolio), 1)
    })
  )

  it.effect("a price that stays beyond its level fires once, and again after it has come back", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      const workflows = yield* Workflows
      const trigger: Trigger = {
        kind: "market_price",
        assetId: baseWeth.assetId,
        comparison: "above",
        threshold: 2_600n * Decimal.one,
        hysteresis: 50n * Decimal.one
      }
      const draft = { portfolioId: portfolio.portfolioId, title: "Ether", trigger, everyMs: null, firstRunAt: null }
      yield* workflows.create({ ...draft, isRepeated: true, needsApproval: false })
      const runsAt = Effect.fnUntraced(function* (usd: bigint, count: number) {
        yield* setEther(usd)
        yield* sweep
        yield* sweep
        yield* finished(portfolio, count)
        yield* sweep
        yield* sweep
        assert.lengthOf(yield* operationsOf(portfolio), count, `at ${usd}`)
      })
      yield* runsAt(2_599n, 0)
      yield* runsAt(2_600n, 1)
      yield* runsAt(2_700n, 1)
      yield* runsAt(2_551n, 1)
      yield* runsAt(2_600n, 1)
      yield* runsAt(2_550n, 1)
      yield* runsAt(2_600n, 2)
    })
  )

  it.effect("a price that wakes no workflow leaves every monitor as it is", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      yield* setBand(portfolio, { kind: "absolute", width: 2_000 })
      yield* sweep
      const before = yield* monitorOf(portfolio)
      const driver = yield* MonitorDriver
      const called = yield* driver.onPrices(new Map([[baseWeth.assetId, 2_501n * Decimal.one]]))
      assert.strictEqual(called, 0)
      assert.deepStrictEqual(yield* monitorOf(portfolio), before)
      assert.strictEqual(yield* driver.onPrices(new Map([[baseWeth.assetId, 5_000n * Decimal.one]])), 1)
    })
  )

  it.effect("nothing fires for a chain that cannot be read, and the check is repeated", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      yield* setBand(portfolio, { kind: "absolute", width: 300 })
      const market = yield* TestChain
      market.prices.delete(arbWeth.assetId)
      yield* sweep
      const state = yield* stateOf(portfolio)
      const now = yield* DateTime.now
      assert.isAtMost(state.nextCheckAt!.epochMilliseconds - now.epochMilliseconds, 60_000)
      assert.lengthOf(yield* operationsOf(portfolio), 0)
    })
  )

  it.effect("a paused portfolio starts nothing; its triggers are checked when it starts", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      const portfolios = yield* PortfolioStore
      yield* setBand(portfolio, { kind: "absolute", width: 300 })
      yield* portfolios.stop(portfolio.tenantId, portfolio.portfolioId, { at: yield* DateTime.now, note: null })
      yield* setEther(4_000n)
      yield* sweep
      yield* sweep
      assert.lengthOf(yield* operationsOf(portfolio), 0)
      const asleep = yield* stateOf(portfolio)
      const now = yield* DateTime.now
      assert.isAbove(asleep.nextCheckAt!.epochMilliseconds, now.epochMilliseconds + 60_000)
      yield* portfolios.start(portfolio.tenantId, portfolio.portfolioId, now)
      const called = yield* stateOf(portfolio)
      // Times of rows are put ahead by a millisecond for each change of the same moment.
      assert.isAtMost(called.nextCheckAt!.epochMilliseconds, now.epochMilliseconds + 1_000)
    })
  )

  it.effect("a strategy that loses its triggers has no monitors, one that changes them waits by the new ones", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolio = yield* onTarget
      yield* setBand(portfolio, { kind: "absolute", width: 300 })
      yield* sweep
      yield* setBand(portfolio, { kind: "relative", width: 1_500 })
      yield* sweep
      const changed = Option.getOrThrow(yield* monitorOf(portfolio))
      assert.deepStrictEqual(changed.workflow.trigger, {
        kind: "portfolio_drift_from_target",
        bands: { band: { kind: "relative", width: 1_500 } }
      })
      yield* setBand(portfolio, null)
      yield* sweep
      assert.isTrue(Option.isNone(yield* monitorOf(portfolio)))
    })
  )

  it.effect("of many that tick the same monitors at once, each run is started once", () =>
    Effect.gen(function* () {
      yield* cleared
      const portfolios = yield* Effect.replicateEffect(onTarget, 4)
      for (const portfolio of portfolios) yield* setBand(portfolio, { kind: "absolute", width: 300 })
      yield* sweep
      yield* setEther(4_000n)
      const ticks = yield* MonitorTicks
      const seen = yield* Effect.forEach(portfolios, (portfolio) => Effect.map(monitorOf(portfolio), Option.getOrThrow))
      const advanced = yield* Effect.replicateEffect(ticks.run(seen), 3, { concurrency: "unbounded" })
      const launched = advanced.flat().flatMap(({ launch }): ReadonlyArray<OperationId> => (launch ? [launch] : []))
      assert.lengthOf(launched, 4)
      for (const portfolio of portfolios) assert.lengthOf(yield* operationsOf(portfolio), 1)
      yield* Effect.forEach(portfolios, (portfolio) => finished(portfolio, 1))
    })
  )
})
