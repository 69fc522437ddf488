/**
 * Money that comes in between two valuations and is traded at once: what a run leaves in the portfolio's performance.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { indexOne } from "#domain/performance/CurvePoint.ts"
import { portfolioCurve } from "#domain/performance/portfolioCurve.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { submitted } from "#test/fault/crash/marketScenarios.ts"
import { acceptWithdrawal, messageOf, reached } from "#test/support/acceptedWithdrawal.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

const World = Layer.mergeAll(SchedulerLive, PortfolioValuer.layer).pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const dollars = (n: number) => BigInt(n) * 1_000_000n

const soon = { schedule: Schedule.spaced("50 millis"), times: 400 }

/** Once every run has done its last step. */
const quiet = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT 1 FROM workflow_messages WHERE finished_at IS NULL`
).pipe(
  Effect.filterOrFail((open) => open.length === 0),
  Effect.retry(soon)
)

/** Runs a rebalance to its end, and to the end of its last step. */
const rebalanced = Effect.fnUntraced(function* (
  tenantId: TenantId,
  portfolioId: PortfolioId,
  accounts: ReadonlyArray<AccountId>
) {
  const begun = yield* submitted(tenantId, portfolioId, accounts)
  yield* (yield* OperationLauncher).launch(begun)
  const store = yield* OperationStore
  const operation = yield* store.find(tenantId, portfolioId, begun.operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(soon)
  )
  yield* quiet
  return operation
})

/** Value, flows and return of all days, as `performance` shows them. */
const performed = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const points = portfolioCurve(yield* (yield* ValuationStore).days(portfolioId, 0 as Day))
  const last = points.at(-1)!
  return {
    valueUsd: Number(last.valueUsd) / 1e18,
    flowsUsd: Number(points.reduce((sum, { cashFlowUsd }) => sum + cashFlowUsd, 0n)) / 1e18,
    index: Number(last.index) / Number(indexOne),
    isRebased: points.some(({ isRebased }) => isRebased)
  }
})

const world = Effect.gen(function* () {
  const made = yield* enrolledPortfolio
  const market = yield* TestChain
  const valuer = yield* PortfolioValuer
  const deposit = (account: AccountId, assetId: AssetId, n: number) => {
    market.mine()
    market.fund(account, assetId, dollars(n))
  }
  const value = Effect.suspend(() => {
    market.mine()
    return valuer.value(made.portfolioId)
  })
  const rebalance = rebalanced(made.tenantId, made.portfolioId, made.accounts)
  return { ...made, market, deposit, value, rebalance, performed: performed(made.portfolioId) }
})

/** Three fifths of what comes in are swapped at 0.3 percent. */
const costOf = (deposited: number) => deposited * 0.6 * 0.003

layer(World, { excludeTestServices: true })("a run values the portfolio before it trades and after", (it) => {
  it.effect.each([10, 100, 5_000])(
    "%s dollars at the last valuation, then 10,000 arrive and are traded: the index is what the money there became",
    (first) =>
      Effect.gen(function* () {
        const { accounts, deposit, performed, rebalance, value } = yield* world
        deposit(accounts[0], baseUsdc.assetId, first)
        assert.isTrue(yield* value)
        deposit(accounts[0], baseUsdc.assetId, 10_000)
        assert.strictEqual((yield* rebalance).state, "completed")
        yield* value
        const { flowsUsd, index, isRebased, valueUsd } = yield* performed
        const all = first + 10_000
        assert.isFalse(isRebased)
        assert.closeTo(flowsUsd, all, 1e-6)
        assert.closeTo(valueUsd, all - costOf(all), 0.1)
        assert.closeTo(index, 1 - costOf(all) / all, 1e-5)
      })
  )

  it.effect("the cost of the first allocation is in the return, from the first run on", () =>
    Effect.gen(function* () {
      const { accounts, deposit, performed, rebalance } = yield* world
      deposit(accounts[0], baseUsdc.assetId, 10_000)
      yield* rebalance
      const { flowsUsd, index, valueUsd } = yield* performed
      assert.closeTo(flowsUsd, 10_000, 1e-6)
      assert.closeTo(valueUsd, 9_982, 0.1)
      assert.closeTo(index, 0.9982, 1e-5)
    })
  )

  it.effect("a chain that does not answer keeps nobody from valuing what is traded on another", () =>
    Effect.gen(function* () {
      const { accounts, deposit, market, performed, rebalance, value } = yield* world
      deposit(accounts[0], baseUsdc.assetId, 10)
      deposit(accounts[1], arbUsdc.assetId, 990)
      yield* rebalance
      const before = yield* performed
      market.down.add(42161)
      deposit(accounts[0], baseUsdc.assetId, 10_000)
      yield* rebalance.pipe(Effect.ensuring(Effect.sync(() => market.down.clear())))
      deposit(accounts[1], arbUsdc.assetId, 1_000)
      yield* value
      const { flowsUsd, index, isRebased } = yield* performed
      assert.isFalse(isRebased)
      assert.closeTo(flowsUsd, 12_000, 1e-6)
      assert.closeTo(index, before.index * (1 - costOf(10_000) / (10_000 + before.valueUsd)), 1e-5)
    })
  )

  it.effect("money that was traded without a valuation before begins the return anew, and says so", () =>
    Effect.gen(function* () {
      const { accounts, deposit, performed, portfolioId, rebalance, value } = yield* world
      deposit(accounts[0], baseUsdc.assetId, 10)
      yield* value
      const sql = yield* SqlClient.SqlClient
      // As a run of a release without valuations leaves it.
      const [known] = yield* sql<{ readonly accounts: unknown; readonly days: unknown }>`
        SELECT accounts::text, (SELECT jsonb_agg(v) FROM portfolio_valuations v
          WHERE v.portfolio_id = s.portfolio_id)::text AS days
        FROM portfolio_snapshots s WHERE portfolio_id = ${portfolioId}`
      deposit(accounts[0], baseUsdc.assetId, 10_000)
      yield* rebalance
      yield* sql`
        UPDATE portfolio_snapshots SET accounts = ${known!.accounts as string}::jsonb
        WHERE portfolio_id = ${portfolioId}`
      yield* sql`DELETE FROM portfolio_valuations WHERE portfolio_id = ${portfolioId}`
      yield* sql`
        INSERT INTO portfolio_valuations
        SELECT * FROM jsonb_populate_recordset(NULL::portfolio_valuations, ${known!.days as string}::jsonb)`
      yield* value
      const { flowsUsd, index, isRebased, valueUsd } = yield* performed
      assert.isTrue(isRebased)
      assert.strictEqual(index, 1)
      assert.closeTo(valueUsd, 10_010 - costOf(10_010), 0.1)
      assert.closeTo(flowsUsd, 10_010, 1e-6)
    })
  )

  it.effect("a withdrawal leaves at the prices of its moment, and what stays goes on from there", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { accounts, deposit, market, performed, value } = made
      const ether = (usd: number) => market.prices.set(baseWeth.assetId, BigInt(usd) * Decimal.one)
      deposit(accounts[0], baseUsdc.assetId, 1_000)
      market.fund(accounts[0], baseWeth.assetId, Decimal.one)
      yield* value
      ether(2_750)
      const message = yield* messageOf(made, accounts[0], { assets: [[baseUsdc.assetId, dollars(1_000)]] })
      const operationId = yield* acceptWithdrawal(made, { accountId: accounts[0], message })
      yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
      assert.strictEqual((yield* reached(made, operationId)).state, "completed")
      yield* quiet
      ether(3_025)
      yield* value
      ether(2_500)
      const { flowsUsd, index, valueUsd } = yield* performed
      // 3,500 became 3,750; of that 2,750 stayed and became 3,025. Over the whole time alone it would be 4,025 of
      // 3,500.
      assert.closeTo(index, (3_750 / 3_500) * (3_025 / 2_750), 1e-9)
      assert.closeTo(valueUsd, 3_025, 1e-6)
      assert.closeTo(flowsUsd, 2_500, 1e-6)
    })
  )

  it.effect("the cost of a liquidation is in the return, and what its recipient got is what went out", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { accounts, deposit, market, performed, value } = made
      deposit(accounts[0], baseUsdc.assetId, 1_000)
      market.fund(accounts[0], baseWeth.assetId, 4n * Decimal.one)
      yield* value
      const signed = [
        [baseWeth.assetId, 2n * Decimal.one],
        [baseUsdc.assetId, dollars(300)]
      ] as const
      const message = yield* messageOf(made, accounts[0], { assets: signed, changes: { liquidate: true } })
      const operationId = yield* acceptWithdrawal(made, { accountId: accounts[0], message })
      yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
      assert.strictEqual((yield* reached(made, operationId)).state, "completed")
      yield* quiet
      const { flowsUsd, index, valueUsd } = yield* performed
      // Of 11,000 dollars 5,000 were sold at 0.3 percent; 4,985 and the 300 that were signed went out.
      assert.closeTo(valueUsd, 5_700, 1e-6)
      assert.closeTo(flowsUsd, 11_000 - 5_285, 1e-6)
      assert.closeTo(index, 10_985 / 11_000, 1e-9)
    })
  )

  it.effect(
    "what came in before a withdrawal counts from its preparation on, whatever prices do until it has landed",
    () =>
      Effect.gen(function* () {
        const made = yield* world
        const { accounts, deposit, market, performed, value } = made
        const ether = (usd: number) => market.prices.set(baseWeth.assetId, BigInt(usd) * Decimal.one)
        ether(2_500)
        market.fund(accounts[0], baseWeth.assetId, Decimal.one)
        yield* value
        deposit(accounts[0], baseUsdc.assetId, 2_500)
        ether(2_750)
        const message = yield* messageOf(made, accounts[0], { assets: [[baseUsdc.assetId, dollars(500)]] })
        const operationId = yield* acceptWithdrawal(made, { accountId: accounts[0], message })
        market.at = (step) => Effect.sync(() => void (step === "broadcast" && ether(3_025)))
        yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
        assert.strictEqual((yield* reached(made, operationId)).state, "completed")
        yield* quiet
        market.at = () => Effect.void
        ether(2_500)
        const { flowsUsd, index, valueUsd } = yield* performed
        // 2,500 became 2,750, and with the 2,500 that came in 5,250, which became 5,525. Over the whole time alone it
        // would be 1.21.
        assert.closeTo(index, (2_750 / 2_500) * (5_525 / 5_250), 1e-9)
        assert.closeTo(valueUsd, 5_025, 1e-6)
        assert.closeTo(flowsUsd, 4_500, 1e-6)
      })
  )

  it.effect("valuations that are repeated, also many at once, change nothing", () =>
    Effect.gen(function* () {
      const { accounts, deposit, performed, rebalance, value } = yield* world
      deposit(accounts[0], baseUsdc.assetId, 10_000)
      yield* rebalance
      const once = yield* performed
      yield* Effect.all(
        Array.from({ length: 20 }, () => value),
        { concurrency: "unbounded" }
      )
      const { flowsUsd, index, valueUsd } = yield* performed
      assert.closeTo(flowsUsd, once.flowsUsd, 1e-9)
      assert.closeTo(index, once.index, 1e-12)
      assert.strictEqual(valueUsd, once.valueUsd)
    })
  )
})
