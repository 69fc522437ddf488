import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { insertPortfolio, insertStrategy, insertTenant, world } from "#test/layers/sql/fixtures.ts"
import { acceptWithdrawal, claimOf, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { eachDatabase } from "#test/support/database.ts"

/** A portfolio of the fixtures with its account on the first chain that it has. */
const portfolioWithAccount = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const source = Option.getOrThrow(yield* (yield* WithdrawalStore).source(tenantId, portfolioId))
  return { portfolioId, tenantId, source, account: source.grants[0]!.authorization.chains[0].accountId }
})

const newMessage = (
  portfolio: { readonly portfolioId: PortfolioId; readonly tenantId: TenantId },
  account: AccountId
) => messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 7n]] })

eachDatabase("WithdrawalStore", (it) => {
  it.effect("reads a portfolio with its grants and both levels of swap preferences, for its tenant alone", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, source, tenantId } = yield* portfolioWithAccount
      assert.strictEqual(source.portfolioId, portfolioId)
      assert.isAtLeast(source.grants.length, 1)
      yield* sql`UPDATE tenants SET slippage_bps = 70, threshold_usd = 12.5 WHERE tenant_id = ${tenantId}`
      const { accepted, strategy, tenant } = Option.getOrThrow(yield* store.source(tenantId, portfolioId)).swap
      assert.deepStrictEqual(strategy, source.swap.strategy)
      assert.isNull(accepted)
      assert.deepStrictEqual(tenant, {
        slippageBps: 70,
        priceImpactBps: null,
        thresholdUsd: 12_500_000_000_000_000_000n
      })
      assert.isTrue(Option.isNone(yield* store.source(yield* insertTenant, portfolioId)))
    })
  )

  it.effect("reads of a mirrored strategy what its tenant accepted, whatever its creator has set since", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const creator = yield* insertTenant
      const strategy = yield* insertStrategy(creator)
      const tenantId = yield* insertTenant
      const { portfolioId } = yield* insertPortfolio({ ...strategy, tenantId })
      const strategies = yield* StrategyStore
      yield* strategies.patchSwap(
        { tenantId: creator, strategyId: strategy.strategyId },
        { slippageBps: 900, priceImpactBps: 900 }
      )
      const source = Option.getOrThrow(yield* store.source(tenantId, portfolioId))
      assert.strictEqual(source.swap.strategy.slippageBps, 900)
      assert.deepStrictEqual(source.swap.accepted, strategy.swap)
    })
  )

  it.effect("accepts a withdrawal with its operation, and reads it back as it was signed", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const operations = yield* OperationStore
      const portfolio = yield* portfolioWithAccount
      const message = yield* newMessage(portfolio, portfolio.account)
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: portfolio.account, message })
      const operation = Option.getOrThrow(
        yield* operations.find(portfolio.tenantId, portfolio.portfolioId, operationId)
      )
      assert.deepInclude(operation, { kind: "withdraw", state: "accepted", error: null })
      assert.lengthOf(yield* operations.events(operationId, 0, 10), 1)
      const stored = Option.getOrThrow(yield* store.find(operationId))
      assert.deepStrictEqual(stored.message, message)
      assert.strictEqual(stored.accountId, portfolio.account)
      assert.strictEqual(stored.acceptedAtBlock, 1n)
      assert.deepStrictEqual(stored.grant, portfolio.source.grants[0])
      assert.isTrue(Option.isNone(yield* store.find(yield* makeOperationId)))

      const liquidating = { ...(yield* newMessage(portfolio, portfolio.account)), liquidate: true as const }
      const other = yield* acceptWithdrawal(portfolio, { accountId: portfolio.account, message: liquidating })
      assert.isTrue(Option.getOrThrow(yield* store.find(other)).message.liquidate)
    })
  )

  it.effect("a nonce is held by one body, replayed after it was accepted, and free after a release", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const portfolio = yield* portfolioWithAccount
      const message = yield* newMessage(portfolio, portfolio.account)
      const mine = yield* claimOf(portfolio.tenantId, message.nonce, "one")
      const other = yield* claimOf(portfolio.tenantId, message.nonce, "two")
      assert.deepStrictEqual(yield* store.claim(mine), { _tag: "Claimed" })
      assert.deepStrictEqual(yield* store.claim(mine), { _tag: "InProgress" })
      assert.deepStrictEqual(yield* store.claim(other), { _tag: "Mismatch" })
      yield* store.release(other)
      assert.deepStrictEqual(yield* store.claim(other), { _tag: "Mismatch" })
      yield* store.release(mine)
      assert.deepStrictEqual(yield* store.claim(other), { _tag: "Claimed" })
      yield* store.release(other)

      const operationId = yield* acceptWithdrawal(portfolio, { accountId: portfolio.account, message })
      const replayed = yield* store.claim(mine)
      assert.strictEqual(replayed._tag, "Replayed")
      if (replayed._tag !== "Replayed") return
      assert.strictEqual(replayed.accepted.operationId, operationId)
      assert.deepStrictEqual(yield* store.claim(other), { _tag: "Mismatch" })
      // Nothing gives up what was accepted.
      yield* store.release(mine)
      assert.strictEqual((yield* store.claim(mine))._tag, "Replayed")
      assert.deepStrictEqual(yield* store.claim(yield* claimOf(yield* insertTenant, message.nonce)), {
        _tag: "Claimed"
      })
    })
  )

  it.effect("a lease that has run out is taken over, and its late holder can neither accept nor release", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const operations = yield* OperationStore
      const portfolio = yield* portfolioWithAccount
      const { account, portfolioId, tenantId } = portfolio
      const message = yield* newMessage(portfolio, account)
      const dead = yield* claimOf(tenantId, message.nonce, "one")
      yield* store.claim(dead)
      const at = DateTime.add(dead.leaseUntil, { milliseconds: 0 })
      const next = { ...dead, now: at, leaseUntil: DateTime.add(at, { seconds: 60 }) }
      const early = { ...next, now: DateTime.subtract(at, { milliseconds: 1 }) }
      assert.deepStrictEqual(yield* store.claim(early), { _tag: "InProgress" })
      assert.deepStrictEqual(yield* store.claim(next), { _tag: "Claimed" })
      yield* store.release(dead)
      const operationId = yield* makeOperationId
      const submittedAt = dead.now
      const withdrawal = {
        tenantId,
        portfolioId,
        accountId: account,
        message,
        signature: "0x1b",
        operationId,
        submittedAt,
        acceptedAtBlock: 9n
      }
      assert.isFalse(yield* store.accept(withdrawal, dead))
      assert.isTrue(Option.isNone(yield* operations.find(tenantId, portfolioId, operationId)))
      assert.isTrue(yield* store.accept(withdrawal, next))
      assert.isFalse(yield* store.accept({ ...withdrawal, operationId: yield* makeOperationId }, next))
    })
  )

  it.effect("of concurrent claims of one body one holds the nonce", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const portfolio = yield* portfolioWithAccount
      const { nonce } = yield* newMessage(portfolio, portfolio.account)
      const claim = yield* claimOf(portfolio.tenantId, nonce)
      const found = yield* Effect.all(
        Array.from({ length: 8 }, () => store.claim(claim)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        found.filter(({ _tag }) => _tag === "Claimed"),
        1
      )
      assert.lengthOf(
        found.filter(({ _tag }) => _tag === "InProgress"),
        7
      )
    })
  )

  it.effect("ends once: state, outcome and the portfolio's time change together", () =>
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const operations = yield* OperationStore
      const sql = yield* SqlClient.SqlClient
      const portfolio = yield* portfolioWithAccount
      const { account, portfolioId, tenantId } = portfolio
      const operationId = yield* acceptWithdrawal(portfolio, {
        accountId: account,
        message: yield* newMessage(portfolio, account)
      })
      const updatedAt = Effect.map(
        Effect.flatMap(PortfolioStore, (portfolios) => portfolios.find(tenantId, portfolioId)),
        (found) => Option.getOrThrow(found).updatedAt
      )
      const before = yield* updatedAt
      // Even at the very moment of the portfolio's last change it changes: what is cached by it must not be served.
      const end = { operationId, at: before, error: null, outcome: { txHash: "0x1", note: "a\u0000b" } }
      yield* operations.transition({ operationId, to: "running", at: before, error: null })
      yield* store.finish(end)
      yield* store.finish({ ...end, error: "too late", outcome: null })
      const operation = Option.getOrThrow(yield* operations.find(tenantId, portfolioId, operationId))
      assert.deepInclude(operation, { state: "completed", error: null })
      assert.isTrue(DateTime.isGreaterThan(yield* updatedAt, before))
      const [row] = yield* sql<{ readonly outcome: unknown }>`
        SELECT outcome FROM withdrawals WHERE operation_id = ${operationId}`
      assert.deepStrictEqual(row!.outcome, { txHash: "0x1", note: "a\uFFFDb" })
    })
  )

  it.effect("an accepted withdrawal is found again as one", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const portfolio = yield* portfolioWithAccount
      const operationId = yield* acceptWithdrawal(portfolio, {
        accountId: portfolio.account,
        message: yield* newMessage(portfolio, portfolio.account)
      })
      const found = yield* operations.accepted(DateTime.add(yield* DateTime.now, { minutes: 1 }), 1_000)
      assert.deepInclude(found, { operationId, kind: "withdraw" })
    })
  )
})
