/**
 * Withdrawals over embedded PostgreSQL and a market in memory: how they end, and what clients and operators see of it.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import {
  acceptWithdrawal,
  type Enrolled,
  history,
  messageOf,
  reached,
  recipientOf
} from "#test/support/acceptedWithdrawal.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

const Engine = Scheduler.layer.pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const dollars = 1_000_000_000n

/** A portfolio whose account on Base holds 1,000 dollars and one WETH. */
const funded = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  const account = portfolio.accounts[0]
  market.fund(account, baseUsdc.assetId, dollars)
  market.fund(account, baseWeth.assetId, Decimal.one)
  return { ...portfolio, account, market }
})

const start = Effect.fnUntraced(function* (portfolio: Enrolled, account: AccountId, message: WithdrawalMessage) {
  const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
  return operationId
})

const withdraw = Effect.fnUntraced(function* (
  portfolio: Enrolled,
  account: AccountId,
  {
    assets,
    changes = {}
  }: {
    readonly assets: ReadonlyArray<readonly [AssetId, bigint]>
    readonly changes?: Partial<WithdrawalMessage> | undefined
  }
) {
  const message = yield* messageOf(portfolio, account, { assets, changes })
  const operationId = yield* start(portfolio, account, message)
  return { message, operationId, operation: yield* reached(portfolio, operationId) }
})

/** What `message` did, brought about by somebody else. */
const receiptElsewhere = {
  actionHash: `0x${"5e".repeat(32)}`,
  txHash: `0x${"e1".repeat(32)}`,
  blockNumber: 7n,
  blockHash: `0x${"b7".repeat(32)}`,
  success: true,
  gasUsed: 1n,
  deltas: []
}

const outcomeOf = Effect.fnUntraced(function* (operationId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly outcome: any
  }>`SELECT outcome FROM withdrawals WHERE operation_id = ${operationId}`
  return row!.outcome
})

layer(Engine, { excludeTestServices: true })("a withdrawal", (it) => {
  it.effect("delivers, completes, and changes the portfolio so that positions are read anew", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market, portfolioId, tenantId } = portfolio
      const find = Effect.flatMap(PortfolioStore, (store) => store.find(tenantId, portfolioId))
      const before = Option.getOrThrow(yield* find).updatedAt
      const { operation, operationId } = yield* withdraw(portfolio, account, {
        assets: [
          [baseUsdc.assetId, dollars],
          [baseWeth.assetId, 1n]
        ]
      })
      assert.strictEqual(operation.state, "completed")
      assert.isNull(operation.error)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 0n)
      assert.strictEqual(market.balance(recipientOf(account), baseWeth.assetId), 1n)
      assert.deepStrictEqual(yield* history(operationId), ["accepted", "running", "withdrawn", "completed"])
      assert.isTrue(DateTime.isGreaterThan(Option.getOrThrow(yield* find).updatedAt, before))
      const outcome = yield* outcomeOf(operationId)
      assert.match(outcome.txHash, /^0x/)
      assert.deepStrictEqual(outcome.delivered, [
        { assetId: baseUsdc.assetId, amountRaw: dollars.toString(), shortfallRaw: "0" },
        { assetId: baseWeth.assetId, amountRaw: "1", shortfallRaw: "0" }
      ])
    })
  )

  it.effect("reports what a token kept as its fee, and completes", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.transferFeeBps.set(baseBtc.assetId, 100n)
      market.fund(account, baseBtc.assetId, 1_000n)
      const { operation, operationId } = yield* withdraw(portfolio, account, { assets: [[baseBtc.assetId, 1_000n]] })
      assert.strictEqual(operation.state, "completed")
      const [delivered] = (yield* outcomeOf(operationId)).delivered
      assert.deepStrictEqual(delivered, { assetId: baseBtc.assetId, amountRaw: "990", shortfallRaw: "10" })
      const events = yield* Effect.flatMap(OperationStore, (store) => store.events(operationId, 0, 10))
      assert.deepInclude((events.find(({ kind }) => kind === "withdrawn")!.payload as any).delivered[0], {
        shortfallRaw: "10"
      })
      market.transferFeeBps.clear()
    })
  )

  it.effect("that somebody else submitted adopts that transaction and sends nothing", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, dollars]] })
      market.withdrawn.set(`${account} ${message.nonce}`, receiptElsewhere)
      const included = market.included.size
      const operationId = yield* start(portfolio, account, message)
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.strictEqual((yield* outcomeOf(operationId)).txHash, receiptElsewhere.txHash)
      assert.strictEqual(market.included.size, included)
    })
  )

  it.effect("that somebody else submits between preparation and broadcast adopts that transaction", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, dollars]] })
      market.at = (step) =>
        Effect.sync(() => {
          if (step === "broadcast") market.withdrawn.set(`${account} ${message.nonce}`, receiptElsewhere)
        })
      const operationId = yield* start(portfolio, account, message)
      const operation = yield* reached(portfolio, operationId)
      market.at = () => Effect.void
      assert.strictEqual(operation.state, "completed")
      assert.strictEqual((yield* outcomeOf(operationId)).txHash, receiptElsewhere.txHash)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), dollars)
    })
  )

  it.effect("fails after one revert that its simulation did not foresee: no second transaction is paid for", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.reverts.set(8453, 1)
      const before = market.included.size
      const { operation } = yield* withdraw(portfolio, account, { assets: [[baseUsdc.assetId, dollars]] })
      assert.strictEqual(operation.state, "failed")
      assert.match(operation.error ?? "", /reverted in 0x.*moved nothing/)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), dollars)
      assert.strictEqual(market.included.size, before + 1)
    })
  )

  it.effect("waits for a chain that is down, and says so", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.down.add(8453)
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, dollars]] })
      const operationId = yield* start(portfolio, account, message)
      yield* reached(portfolio, operationId, (state) => state === "retrying")
      market.down.clear()
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.deepStrictEqual(yield* history(operationId), [
        "accepted",
        "running",
        "retrying",
        "withdrawal_waits",
        "running",
        "withdrawn",
        "completed"
      ])
    })
  )

  it.effect("fails when the chain comes back after the expiry, by the chain's own time", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.down.add(8453)
      const message = yield* messageOf(portfolio, account, {
        assets: [[baseUsdc.assetId, dollars]],
        changes: { expiresAt: 1_000 }
      })
      const operationId = yield* start(portfolio, account, message)
      // Long past the expiry by the service's clock, it is not given up while the chain has not said so.
      yield* reached(portfolio, operationId, (state) => state === "retrying")
      market.seconds.set(8453, 1_001)
      market.down.clear()
      const operation = yield* reached(portfolio, operationId)
      market.seconds.clear()
      assert.strictEqual(operation.state, "failed")
      assert.match(operation.error ?? "", /nothing moved/)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), dollars)
    })
  )

  it.effect("that expires while it is under way fails, having moved nothing", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.at = (step) => Effect.sync(() => step === "broadcast" && market.seconds.set(8453, 2_000))
      const { operation } = yield* withdraw(portfolio, account, {
        assets: [[baseUsdc.assetId, dollars]],
        changes: { expiresAt: 1_000 }
      })
      market.at = () => Effect.void
      market.seconds.clear()
      assert.strictEqual(operation.state, "failed")
      assert.match(operation.error ?? "", /nothing moved/)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), dollars)
    })
  )

  it.effect("of more than the account holds fails, naming the asset", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { operation } = yield* withdraw(portfolio, portfolio.account, {
        assets: [[baseUsdc.assetId, dollars + 1n]]
      })
      assert.strictEqual(operation.state, "failed")
      assert.include(operation.error ?? "", `have ${dollars}, need ${dollars + 1n}`)
    })
  )

  it.effect("waits for the money while a rebalance of the portfolio is unfinished", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market, portfolioId, tenantId } = portfolio
      const operations = yield* OperationStore
      const rebalanceId = yield* makeOperationId
      // Accepted and never launched: unfinished for as long as the test likes.
      yield* operations.submitManual({
        operationId: rebalanceId,
        tenantId,
        portfolioId,
        now: yield* DateTime.now,
        cooldownMs: 0
      })
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 2n * dollars]] })
      const operationId = yield* start(portfolio, account, message)
      yield* reached(portfolio, operationId, (state) => state === "retrying")
      const waits = (yield* operations.events(operationId, 0, 100)).find(({ kind }) => kind === "withdrawal_waits")
      assert.include(JSON.stringify(waits?.payload), "a rebalance of the portfolio is running: ")
      yield* operations.transition({
        operationId: rebalanceId,
        to: "cancelled",
        at: yield* DateTime.now,
        error: "test"
      })
      market.fund(account, baseUsdc.assetId, dollars)
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
    })
  )

  it.effect("whose launch was lost is launched by the scheduler, as what it is", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const sql = yield* SqlClient.SqlClient
      const message = yield* messageOf(portfolio, portfolio.account, { assets: [[baseUsdc.assetId, dollars]] })
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: portfolio.account, message })
      yield* sql`UPDATE operations SET submitted_at = submitted_at - interval '1 minute'
        WHERE operation_id = ${operationId}`
      yield* (yield* Scheduler).tick
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
    })
  )

  it.effect("launched twice is carried out once", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      const launcher = yield* OperationLauncher
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, dollars / 2n]] })
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
      yield* Effect.all(
        [1, 2, 3].map(() => launcher.launch({ operationId, kind: "withdraw" })),
        { concurrency: 3 }
      )
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.strictEqual(market.balance(account, baseUsdc.assetId), dollars / 2n)
    })
  )
})

layer(Engine, { excludeTestServices: true })("a liquidation", (it) => {
  it.effect("sells what was signed, delivers the proceeds, and keeps the rest of the settlement asset", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      const { operation, operationId } = yield* withdraw(portfolio, account, {
        assets: [
          [baseWeth.assetId, Decimal.one],
          [baseUsdc.assetId, 300_000_000n]
        ],
        changes: { liquidate: true }
      })
      assert.strictEqual(operation.state, "completed", operation.error ?? "")
      assert.strictEqual(market.balance(account, baseWeth.assetId), 0n)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 700_000_000n)
      // 2,500 dollars less 30 basis points, and the 300 that were signed.
      assert.deepStrictEqual((yield* outcomeOf(operationId)).delivered, [
        { assetId: baseUsdc.assetId, amountRaw: "2792500000" }
      ])
    })
  )

  it.effect("of the settlement asset alone needs no sale", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      const { operation } = yield* withdraw(portfolio, account, {
        assets: [[baseUsdc.assetId, dollars]],
        changes: { liquidate: true }
      })
      assert.strictEqual(operation.state, "completed", operation.error ?? "")
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 0n)
      assert.strictEqual(market.balance(account, baseWeth.assetId), Decimal.one)
    })
  )

  it.effect("with one asset that cannot be sold fails as a whole, naming it", () =>
    Effect.gen(function* () {
      const portfolio = yield* funded
      const { account, market } = portfolio
      market.fund(account, baseBtc.assetId, 1_000_000n)
      const price = market.prices.get(baseBtc.assetId)!
      market.prices.delete(baseBtc.assetId)
      const { operation } = yield* withdraw(portfolio, account, {
        assets: [
          [baseWeth.assetId, Decimal.one],
          [baseBtc.assetId, 1_000_000n]
        ],
        changes: { liquidate: true }
      })
      market.prices.set(baseBtc.assetId, price)
      assert.strictEqual(operation.state, "failed")
      assert.include(operation.error ?? "", baseBtc.assetId)
      assert.notInclude(operation.error ?? "", baseWeth.assetId)
      assert.strictEqual(market.balance(account, baseWeth.assetId), Decimal.one)
    })
  )
})
