/**
 * Runs of many portfolios whose operations share transactions: each ends well and once, whatever becomes of the others.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Deferred, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
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

const portfolios = 6

interface Run {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly operationId: OperationId
  readonly account: AccountId
}

/** Starts a run of a new portfolio with ten thousand dollars on Base. */
const start = Effect.gen(function* () {
  const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
  const { operationId } = yield* Effect.flatMap(Rebalances, (rebalances) => rebalances.trigger(portfolioId)).pipe(
    Effect.provideService(PortfolioTenant, { tenantId })
  )
  return { tenantId, portfolioId, operationId, account: accounts[0] } satisfies Run
})

/** Starts them, holds them all at their prepared operations, and lets them go to be signed at the same moment. */
const startTogether = Effect.fnUntraced(function* (prepared: (run: Run, index: number) => void = () => undefined) {
  const market = yield* TestChain
  const gate = yield* Deferred.make<void>()
  const all = yield* Deferred.make<void>()
  let waiting = 0
  market.at = (step) =>
    step === "prepare" && waiting < portfolios
      ? Effect.suspend(() => {
          waiting += 1
          return Effect.andThen(
            waiting === portfolios ? Deferred.succeed(all, undefined) : Effect.void,
            Deferred.await(gate)
          )
        })
      : Effect.void
  const runs = yield* Effect.replicateEffect(start, portfolios)
  for (const [index, run] of runs.entries()) prepared(run, index)
  yield* Deferred.await(all).pipe(Effect.timeout(patience))
  yield* Deferred.succeed(gate, undefined)
  return runs
})

const ended = Effect.fnUntraced(function* ({ operationId, portfolioId, tenantId }: Run) {
  const store = yield* OperationStore
  const runs = yield* RunStore
  const { error, state } = yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail((operation) => isTerminal(operation.state)),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout(patience)
  )
  const report = yield* runs
    .report(operationId)
    .pipe(Effect.flatMap(Effect.fromOption), Effect.flatMap(Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport))))
  return { state, error, receipt: report.chains.find(({ receipt }) => receipt !== null)?.receipt }
})

interface Included {
  readonly attempt: number
  readonly nonce: bigint
  readonly actionCount: number
  readonly status: string
}

/** The run's attempts, with the transactions that include them. */
const included = ({ operationId }: Run) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<Included>`
      SELECT a.attempt, a.nonce, t.action_count AS "actionCount", a.status FROM relayed_actions a
      JOIN relayed_transactions t USING (chain_id, relayer, nonce)
      WHERE a.operation_id = ${operationId} ORDER BY a.attempt`
  )

/** The account is on target, by one trade. */
const isOnTarget = ({ account }: Run) =>
  Effect.map(TestChain, (market) => {
    const usdc = Number(market.balance(account, baseUsdc.assetId)) / 1e6
    const weth = (Number(market.balance(account, baseWeth.assetId)) / 1e18) * 2500
    assert.closeTo(weth / (weth + usdc), 0.6, 0.001)
    assert.isAbove(weth + usdc, 9_980, "the fee of one trade was paid, not of two")
  })

layer(Engine, { excludeTestServices: true })("runs that share transactions", (it) => {
  it.effect("complete, each with its own receipt, in fewer transactions than there are runs", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      const runs = yield* startTogether()
      const actionHashes = new Set<string>()
      for (const run of runs) {
        const { receipt, state } = yield* ended(run)
        assert.strictEqual(state, "completed")
        actionHashes.add(receipt!.actionHash)
        yield* isOnTarget(run)
      }
      assert.strictEqual(actionHashes.size, portfolios)
      const attempts = (yield* Effect.forEach(runs, included)).flat()
      assert.deepStrictEqual(
        attempts.map(({ attempt, status }) => [attempt, status]),
        runs.map(() => [1, "succeeded"])
      )
      const nonces = new Set(attempts.map(({ nonce }) => nonce))
      assert.isBelow(nonces.size, portfolios)
      assert.strictEqual(market.included.size, portfolios)
    })
  )

  it.effect("go on without one that the chain refuses among them, which is included alone", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      const runs = yield* startTogether(({ account }, index) => {
        if (index === 4) market.refused.add(account)
      })
      for (const run of runs) {
        assert.strictEqual((yield* ended(run)).state, "completed")
        yield* isOnTarget(run)
      }
      const [refused] = yield* included(runs[4]!)
      assert.strictEqual(refused!.actionCount, 1)
      const others = (yield* Effect.forEach(runs, included)).flat()
      assert.isAbove(Math.max(...others.map(({ actionCount }) => actionCount)), 1)
    })
  )

  it.effect(
    "whose transaction comes to nothing are included again, alone and once, and that is no failure of theirs",
    () =>
      Effect.gen(function* () {
        const market = yield* TestChain
        market.spoils = 1
        const runs = yield* startTogether()
        for (const run of runs) {
          const { error, receipt, state } = yield* ended(run)
          assert.strictEqual(state, "completed", error ?? "")
          assert.isTrue(receipt!.success)
          yield* isOnTarget(run)
        }
        const attempts = yield* Effect.forEach(runs, included)
        const spoiled = attempts.filter(({ length }) => length > 1)
        assert.isAbove(spoiled.length, 1)
        for (const each of spoiled) {
          assert.deepStrictEqual(
            each.map(({ actionCount, status }) => [actionCount > 1, status]),
            [
              [true, "reverted"],
              [false, "succeeded"]
            ]
          )
        }
      })
  )
})
