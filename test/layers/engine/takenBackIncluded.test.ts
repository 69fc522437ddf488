/**
 * Batches that were taken back and that somebody else submits all the same, and what waits behind a held batch; over
 * embedded PostgreSQL and a market in memory.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Duration, Effect, Layer, Option, Schedule, Schema } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptWithdrawal, type Enrolled, history, messageOf, reached } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio, enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { hash, include } from "#test/support/chains/TestMarket.ts"
import { patience } from "#test/support/suite/patience.ts"

/** Gas on Base is paid in ether, whose price is known, so what the agent does there has a limit. */
const settings = testSettingsWith({ natives: new Map([[baseUsdc.chainId, baseWeth.assetId]]) })

const engineThat = (holdFor: Duration.Duration) =>
  EngineLive.pipe(
    Layer.provide(
      Layer.succeed(RelayTiming, { searchFor: Duration.millis(50), searchInterval: Duration.millis(10), holdFor })
    ),
    Layer.provideMerge(TestChains),
    Layer.provideMerge(settings),
    Layer.provideMerge(TestStores),
    Layer.provideMerge(NodeCrypto.layer)
  )

const rebalance = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Enrolled) {
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "rebalance" })
  return operationId
})

const reportOf = Effect.fnUntraced(function* (operationId: OperationId) {
  const stored = yield* Effect.flatMap((yield* RunStore).report(operationId), Effect.fromOption)
  const { chains } = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport))(stored)
  return chains.find(({ chainId }) => chainId === baseUsdc.chainId)!
})

/** Longer than what is younger than a failover, before which no chain is asked for what has no record. */
const longEnough = "5200 millis"

const including = hash("a stranger", 1)

/**
 * A rebalance of dollars on one chain, of which `takenBack` batches are taken back. Somebody else submits the first of
 * them when the given step has come so often.
 */
const includedByStranger = Effect.fnUntraced(function* (
  portfolio: Enrolled & { readonly accounts: readonly [AccountId, AccountId] },
  { at, count, takenBack }: { readonly takenBack: number; readonly at: "prepare" | "sign"; readonly count: number }
) {
  const market = yield* TestChain
  const relays = yield* RelayStore
  const { chainId } = baseUsdc
  market.fund(portfolio.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.dearNonces = takenBack
  const { portfolioId, tenantId } = portfolio
  const operationId = yield* makeOperationId
  let seen = 0
  market.at = (step) =>
    Effect.gen(function* () {
      if (step !== at || ++seen !== count) return
      const { transaction } = Option.getOrThrow(yield* relays.sent({ operationId, chainId, attempt: 1 }))
      const { actionHash, cancels } = transaction
      yield* Effect.sleep(longEnough)
      include(market, chainId, { actionHash, raw: cancels!, txHash: including })
    })
  const store = yield* OperationStore
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "rebalance" })
  const operation = yield* reached(portfolio, operationId)
  market.at = () => Effect.void
  assert.strictEqual(operation.state, "completed", operation.error ?? "")
  const landed = [...market.included.values()].filter(({ success }) => success)
  assert.deepStrictEqual(
    landed.map(({ txHash }) => txHash),
    [including]
  )
  const outcome = yield* reportOf(operationId)
  assert.isNull(outcome.failure)
  assert.strictEqual(outcome.receipt?.txHash, including)
  return { market, operation, operationId, outcome }
})

const requireInLedger = Effect.fnUntraced(function* (
  { portfolioId }: Enrolled,
  { outcome }: Effect.Success<ReturnType<typeof includedByStranger>>
) {
  const ledger = yield* TransferLedger
  assert.lengthOf(outcome.transfers ?? [], 1)
  const open = yield* ledger.openOf(portfolioId)
  assert.deepStrictEqual(
    open.map(({ amountRaw, txHash }) => ({ amountRaw, txHash })),
    [{ amountRaw: outcome.transfers![0]!.amountRaw, txHash: including }]
  )
  assert.lengthOf(yield* ledger.intentsOf(portfolioId), 0)
})

layer(engineThat(Duration.zero), { excludeTestServices: true })("a batch that was taken back", (it) => {
  it.effect("is the run's when somebody else submits it, and what it sent away is in the ledger", () =>
    Effect.gen(function* () {
      const portfolio = yield* connectedPortfolio
      const run = yield* includedByStranger(portfolio, { takenBack: 1, at: "prepare", count: 2 })
      assert.strictEqual(run.market.takenBack.size, 1)
      assert.deepStrictEqual(
        run.outcome.reverted?.map(({ isTakenBack }) => isTakenBack),
        [true]
      )
      yield* requireInLedger(portfolio, run)
    })
  )
})

layer(engineThat(Duration.zero), { excludeTestServices: true })("a batch of swaps that was taken back", (it) => {
  it.effect("is reported with the minimums that it was signed with, when somebody else submits it", () =>
    Effect.gen(function* () {
      const run = yield* includedByStranger(yield* enrolledPortfolio, { takenBack: 1, at: "prepare", count: 2 })
      const [swap] = run.outcome.swaps
      assert.isTrue(swap!.minBuyAmountRaw > 0n)
    })
  )
})

layer(engineThat(Duration.zero), { excludeTestServices: true })("the first of three batches", (it) => {
  it.effect("is the run's also when it is included while the last attempt is signed, which it overtakes", () =>
    Effect.gen(function* () {
      const portfolio = yield* connectedPortfolio
      const run = yield* includedByStranger(portfolio, { takenBack: 2, at: "sign", count: 3 })
      assert.strictEqual(run.market.takenBack.size, 2)
      assert.strictEqual(run.market.overtaken, 1)
      yield* requireInLedger(portfolio, run)
    })
  )
})

layer(engineThat(Duration.hours(1)), { excludeTestServices: true })("a withdrawal behind a held batch", (it) => {
  it.effect("lands at once: the batch is taken back, and made anew behind it", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const market = yield* TestChain
      const [account] = portfolio.accounts
      market.fund(account, baseUsdc.assetId, 10_000_000_000n)
      market.isInOrder = true
      market.dearNonces = 1
      const batch = yield* rebalance(portfolio)
      yield* history(batch).pipe(
        Effect.filterOrFail((kinds) => kinds.includes("gas_waits")),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      assert.strictEqual(market.takenBack.size, 0, "nothing waits behind it yet")
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 200_000_000n]] })
      const withdrawal = yield* acceptWithdrawal(portfolio, { accountId: account, message })
      yield* (yield* OperationLauncher).launch({ operationId: withdrawal, kind: "withdraw" })
      assert.strictEqual((yield* reached(portfolio, withdrawal)).state, "completed")
      assert.strictEqual((yield* reached(portfolio, batch)).state, "completed")
      assert.strictEqual(market.takenBack.size, 1)
      const blocks = [...market.included.values()].filter(({ success }) => success)
      assert.lengthOf(blocks, 2)
      const [included] = market.withdrawn.values()
      const { receipt, reverted } = yield* reportOf(batch)
      assert.isTrue(receipt!.blockNumber > included!.blockNumber)
      assert.isTrue(market.takenBack.get(reverted![0]!.txHash)! < included!.blockNumber)
    })
  )
})
