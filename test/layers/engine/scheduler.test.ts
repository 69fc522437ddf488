/**
 * The scheduler over embedded PostgreSQL and a market in memory: which due portfolios get a run, and which need none.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Metric, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { addressOf, type AccountId } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { makeOperationId, type PortfolioId, type StrategyId, type TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio, enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { patience } from "#test/support/suite/patience.ts"

/** Requests for many accounts: their chain, and how many accounts they were for. */
const asked: Array<readonly [chainId: number, accounts: number]> = []

/** Happens before the balances of a drift check are read. */
let duringCheck: Effect.Effect<void> = Effect.void

const CountedBalances = Layer.effect(
  Balances,
  Effect.map(Balances, ({ read, readMany }) => ({
    read,
    readMany: (chainId, accounts) =>
      Effect.suspend(() => {
        asked.push([chainId, accounts.length])
        return Effect.andThen(duringCheck, readMany(chainId, accounts))
      })
  }))
)

// Ticks when a test says so, not by itself.
const Engine = Scheduler.layer.pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(CountedBalances),
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
const day = 86_400_000

/** 3,000 dollars of WETH and 2,000 USDC on each chain: on target to the cent. */
const fundOnTarget = ({ accounts }: Enrolled) =>
  Effect.map(TestChain, (market) => {
    for (const [account, weth, usdc] of [
      [accounts[0], baseWeth, baseUsdc],
      [accounts[1], arbWeth, arbUsdc]
    ] as const) {
      market.fund(account, weth.assetId, 1_200_000_000_000_000_000n)
      market.fund(account, usdc.assetId, 2_000n * dollars)
    }
  })

/** Due `ago` milliseconds ago, after an earlier drift check. */
const makeDue = ({ portfolioId }: Enrolled, ago = 1_000) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dueAt = DateTime.subtract(yield* DateTime.now, { milliseconds: ago })
    yield* sql`
      UPDATE schedules SET due_at = ${DateTime.toDateUtc(dueAt)}, checked_at = portfolio_created_at
      WHERE portfolio_id = ${portfolioId}`
    return dueAt
  })

const onTarget = Effect.gen(function* () {
  const enrolled = yield* enrolledPortfolio
  yield* fundOnTarget(enrolled)
  yield* makeDue(enrolled)
  return enrolled
})

const tick = Effect.flatMap(Scheduler, (scheduler) => scheduler.tick)

const operationsOf = ({ portfolioId }: Enrolled) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly operation_id: string; readonly trigger: string; readonly kind: string }>`
      SELECT operation_id, trigger, kind FROM operations WHERE portfolio_id = ${portfolioId}`
  )

const nextDueAt = ({ portfolioId, tenantId }: Enrolled) =>
  Effect.map(
    Effect.flatMap(PortfolioStore, (store) => store.find(tenantId, portfolioId)),
    (found) => Option.getOrThrow(found).schedule!.nextDueAt
  )

/** Whether the next due time is to come. */
const isDone = (enrolled: Enrolled) =>
  Effect.gen(function* () {
    const now = yield* DateTime.now
    return DateTime.isGreaterThan(yield* nextDueAt(enrolled), now)
  })

const checkedAt = ({ portfolioId }: Enrolled) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly checked_at: Date | null }>`
      SELECT checked_at FROM schedules WHERE portfolio_id = ${portfolioId}`
    return row!.checked_at
  })

const rebalancesOf = (enrolled: Enrolled) =>
  Effect.map(operationsOf(enrolled), (operations) => operations.filter(({ kind }) => kind === "rebalance"))

/** An operation that is over sent that many USDC from Base to Arbitrum. */
const sent = Effect.fnUntraced(function* ({ accounts, portfolioId, tenantId }: Enrolled, txHash: string, raw: bigint) {
  const operations = yield* OperationStore
  const runId = yield* makeOperationId
  const at = yield* DateTime.now
  yield* operations.submitManual({ operationId: runId, tenantId, portfolioId, now: at, cooldownMs: 0 })
  yield* operations.transition({ operationId: runId, to: "cancelled", at, error: "test" })
  yield* (yield* TransferLedger).open({
    runId,
    attempt: 1,
    accountId: accounts[0],
    txHash,
    at,
    transfers: [
      {
        sell: baseUsdc.assetId,
        buy: arbUsdc.assetId,
        amountRaw: raw,
        minRaw: raw,
        expectedRaw: raw,
        bridgeAddress: addressOf(accounts[0]),
        tool: "test"
      }
    ]
  })
})

/** Waits until no rebalance of the portfolio is unfinished. */
const settled = ({ portfolioId }: Enrolled) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT 1 FROM operations WHERE portfolio_id = ${portfolioId} AND kind = 'rebalance'
      AND finished_at IS NULL`.pipe(
      Effect.filterOrFail((rows) => rows.length === 0),
      Effect.retry(Schedule.spaced("25 millis")),
      Effect.timeout(patience)
    )
  })

/** It is due and gets a scheduled run. */
const getsRun = Effect.fnUntraced(function* (enrolled: Enrolled) {
  const before = (yield* operationsOf(enrolled)).length
  yield* tick
  const operations = yield* operationsOf(enrolled)
  assert.strictEqual(operations.length, before + 1)
  assert.isTrue(yield* isDone(enrolled))
  yield* settled(enrolled)
})

const measured = (outcome: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find(
      ({ attributes, id }) => id === "ballast_scheduler_drift_checks" && attributes?.["outcome"] === outcome
    )
    return found === undefined ? 0 : Number((found.state as { readonly count: number }).count)
  })

layer(Engine, { excludeTestServices: true })("the scheduler", (it) => {
  it.effect("starts no operation for a portfolio on target and moves it along its grid", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const dueAt = yield* makeDue(enrolled, 3 * day + 1_000)
      const before = yield* measured("on_target")
      const now = yield* DateTime.now
      assert.strictEqual(yield* tick, 1)
      assert.deepStrictEqual(yield* operationsOf(enrolled), [])
      assert.deepStrictEqual(yield* nextDueAt(enrolled), DateTime.add(dueAt, { days: 4 }))
      assert.isTrue((yield* checkedAt(enrolled))!.getTime() >= now.epochMilliseconds)
      assert.strictEqual(yield* measured("on_target"), before + 1)
      assert.strictEqual(yield* tick, 0)
    })
  )

  it.effect("starts one for a portfolio that is off target, and none once that is done", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const market = yield* TestChain
      market.fund(enrolled.accounts[0], baseUsdc.assetId, 100n * dollars)
      market.fund(enrolled.accounts[1], arbUsdc.assetId, 100n * dollars)
      yield* getsRun(enrolled)
      assert.strictEqual((yield* operationsOf(enrolled))[0]?.trigger, "scheduled")
      yield* makeDue(enrolled)
      yield* tick
      assert.lengthOf(yield* operationsOf(enrolled), 1)
    })
  )

  it.effect("starts one for a portfolio that holds an asset outside its allocation", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const market = yield* TestChain
      market.fund(enrolled.accounts[0], baseBtc.assetId, 10_000_000n)
      yield* getsRun(enrolled)
      assert.strictEqual(market.balance(enrolled.accounts[0], baseBtc.assetId), 0n)
    })
  )

  it.effect("starts one at the first drift check, and at the first after a start, so that people see one", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const portfolios = yield* PortfolioStore
      const now = yield* DateTime.now
      yield* portfolios.stop(enrolled.tenantId, enrolled.portfolioId, { at: now, note: null })
      yield* portfolios.start(enrolled.tenantId, enrolled.portfolioId, now)
      yield* getsRun(enrolled)
      const portfolio = yield* portfolios.find(enrolled.tenantId, enrolled.portfolioId)
      assert.isNotNull(Option.getOrThrow(portfolio).schedule?.lastRebalanceAt)
    })
  )

  it.effect("starts one where a chain cannot be read, since the run reports it", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const market = yield* TestChain
      market.down.add(42161)
      yield* getsRun(enrolled).pipe(Effect.ensuring(Effect.sync(() => market.down.clear())))
      yield* makeDue(enrolled)
      yield* tick
      assert.lengthOf(yield* operationsOf(enrolled), 1, "the chain is back, and all is well")
    })
  )

  it.effect("starts one where a price is missing, or where an account may only seem empty", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const { prices } = yield* TestChain
      const usd = prices.get(baseWeth.assetId)!
      prices.delete(baseWeth.assetId)
      yield* getsRun(enrolled).pipe(Effect.ensuring(Effect.sync(() => prices.set(baseWeth.assetId, usd))))
      const empty: Enrolled = yield* enrolledPortfolio
      yield* makeDue(empty)
      yield* tick
      assert.lengthOf(yield* operationsOf(empty), 0, "an empty portfolio is on target")
    })
  )

  it.effect("starts one for a new version of the strategy, also when it changes next to nothing", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const strategies = yield* StrategyStore
      const strategy = Option.getOrThrow(yield* strategies.find(enrolled.strategyId))
      yield* strategies.publish({
        strategyId: enrolled.strategyId,
        allocation: strategy.allocation,
        changeLog: null,
        createdAt: yield* DateTime.now
      })
      yield* getsRun(enrolled)
      const portfolio = yield* Effect.flatMap(PortfolioStore, (store) =>
        store.find(enrolled.tenantId, enrolled.portfolioId)
      )
      assert.strictEqual(Option.getOrThrow(portfolio).strategyVersion, 2)
    })
  )

  it.effect("checks again when a version is published during a drift check", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const { strategyId } = enrolled
      const strategies = yield* StrategyStore
      const createdAt = yield* DateTime.now
      const allocation = [{ assetId: baseBtc.assetId, weight: 10_000 }]
      duringCheck = Effect.asVoid(strategies.publish({ strategyId, allocation, changeLog: null, createdAt }))
      yield* tick.pipe(Effect.ensuring(Effect.sync(() => (duringCheck = Effect.void))))
      assert.lengthOf(yield* operationsOf(enrolled), 0)
      assert.isFalse(yield* isDone(enrolled))
      yield* getsRun(enrolled)
    })
  )

  it.effect("counts what is in transit, and checks again once it has arrived", () =>
    Effect.gen(function* () {
      const enrolled = yield* connectedPortfolio
      const [onBase, onArbitrum] = enrolled.accounts
      const market = yield* TestChain
      // Nothing is missing but 2,000 USDC on Arbitrum, which are on their way.
      market.fund(onBase, baseWeth.assetId, 1_200_000_000_000_000_000n)
      market.fund(onBase, baseUsdc.assetId, 2_000n * dollars)
      market.fund(onArbitrum, arbWeth.assetId, 1_200_000_000_000_000_000n)
      const txHash = `0x${"7a".repeat(32)}`
      yield* sent(enrolled, txHash, 2_000n * dollars)
      yield* makeDue(enrolled)
      yield* tick
      assert.lengthOf(yield* rebalancesOf(enrolled), 1, "no other than the one that sent it")

      const arrival = `0x${"a7".repeat(32)}`
      const received = { assetId: arbUsdc.assetId, raw: 2_000n * dollars }
      market.fund(onArbitrum, received.assetId, received.raw)
      market.arrivals.set(`${onArbitrum} ${arrival}`, {
        success: true,
        isOwn: false,
        blockNumber: 7n,
        deltas: [received]
      })
      market.routes.set(txHash, { _tag: "Delivered", txHash: arrival })
      yield* makeDue(enrolled)
      // The drift check that finds it arrived changes the ledger, and is repeated for that.
      yield* tick
      yield* tick
      assert.isTrue(yield* isDone(enrolled))
      assert.deepStrictEqual(yield* (yield* TransferLedger).openOf(enrolled.portfolioId), [])
      assert.lengthOf(yield* rebalancesOf(enrolled), 1)
    })
  )

  it.effect("finds a portfolio due again that was claimed by a process that died during its drift check", () =>
    Effect.gen(function* () {
      const enrolled = yield* onTarget
      const sql = yield* SqlClient.SqlClient
      const now = yield* DateTime.now
      const taken = yield* (yield* DueStore).claim(now, DateTime.add(now, { hours: 1 }), 10)
      assert.lengthOf(taken.due, 1)
      yield* tick
      assert.isFalse(yield* isDone(enrolled), "another process is checking it")
      yield* sql`UPDATE drift_checks SET until = until - interval '2 hours'`
      yield* tick
      assert.isTrue(yield* isDone(enrolled))
      assert.deepStrictEqual(yield* operationsOf(enrolled), [])
    })
  )

  it.effect("answers a manual trigger with an operation also when there is nothing to do", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId, ...rest } = yield* onTarget
      const operationId = yield* makeOperationId
      const now = yield* DateTime.now
      const submission = yield* (yield* OperationStore).submitManual({
        operationId,
        tenantId,
        portfolioId,
        now,
        cooldownMs: 0
      })
      assert.strictEqual(submission._tag, "Submitted")
      assert.lengthOf(yield* operationsOf({ portfolioId, tenantId, ...rest }), 1)
    })
  )

  it.effect("reads a batch of portfolios with one request for many accounts on each chain", () =>
    Effect.gen(function* () {
      const all = yield* Effect.replicateEffect(onTarget, 20)
      asked.length = 0
      assert.isAtLeast(yield* tick, 20)
      assert.deepStrictEqual(
        asked.map(([chainId]) => chainId).sort((a, b) => a - b),
        [8453, 42161]
      )
      assert.isTrue(asked.every(([, accounts]) => accounts >= 20))
      for (const enrolled of all) assert.lengthOf(yield* operationsOf(enrolled), 0)
    })
  )
})
