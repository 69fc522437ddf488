/** What operations say that they did, held against the balances of the accounts that they moved. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Schedule } from "effect"
import { makeOperationId, type OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

const Engine = EngineLive.pipe(
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const ended = Effect.fnUntraced(function* (
  {
    operationId,
    portfolioId,
    tenantId
  }: { readonly tenantId: TenantId; readonly portfolioId: PortfolioId; readonly operationId: OperationId },
  kind: "rebalance" | "withdraw"
) {
  yield* (yield* OperationLauncher).launch({ operationId, kind })
  const operation = yield* (yield* OperationStore).find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("50 millis"))
  )
  const { result } = operation
  return result === null ? assert.fail("it has no result") : { ...operation, result }
})

const rebalanced = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId) {
  const operationId = yield* makeOperationId
  const now = yield* DateTime.now
  yield* (yield* OperationStore).submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
  return yield* ended({ tenantId, portfolioId, operationId }, "rebalance")
})

layer(Engine, { excludeTestServices: true })("what an operation did", (it) => {
  it.effect("a rebalance that trades on both chains says `traded`, with what each swap sold and received", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      const { outcome, reason, result } = yield* rebalanced(tenantId, portfolioId)
      assert.strictEqual(outcome, "traded")
      assert.isNull(reason)
      assert.lengthOf(result.chains, 2)
      for (const [index, { swaps, transactions, failure }] of result.chains.entries()) {
        const account = accounts[index]!
        assert.isNull(failure)
        assert.lengthOf(swaps, 1)
        const [swap] = swaps
        assert.strictEqual(swap!.soldRaw, 10_000_000_000n - market.balance(account, swap!.sell))
        assert.strictEqual(swap!.receivedRaw, market.balance(account, swap!.buy))
        assert.isTrue(swap!.receivedRaw! >= swap!.minOutRaw)
        assert.isTrue(swap!.feeRaw! > 0n && swap!.feeRaw! < swap!.soldRaw)
        assert.lengthOf(transactions, 1)
        assert.isTrue(transactions[0]!.success)
        assert.match(transactions[0]!.userOpHash ?? "", /^0x[0-9a-f]{64}$/)
      }
      assert.isNotNull(result.tradingUsd)
      // 12,000 dollars were sold: what was lost is the venue's fee, and less than a hundredth.
      assert.isTrue(result.tradingUsd! > 0n && result.tradingUsd! < 120n * 10n ** 18n, `${result.tradingUsd}`)
    })
  )

  it.effect("the next one says `nothing_to_do`, in a sentence, and the portfolio shows it as its last", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      ;(yield* TestChain).fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      ;(yield* TestChain).fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      yield* rebalanced(tenantId, portfolioId)
      const { operationId, outcome, reason, result } = yield* rebalanced(tenantId, portfolioId)
      assert.strictEqual(outcome, "nothing_to_do")
      assert.isNotNull(reason)
      assert.isTrue(result.chains.every(({ swaps, transactions }) => swaps.length + transactions.length === 0))
      assert.deepInclude(result, { gasUsd: 0n, tradingUsd: 0n })
      const portfolio = yield* Effect.flatMap((yield* PortfolioStore).find(tenantId, portfolioId), Effect.fromOption)
      assert.isNull(portfolio.activeOperationId)
      assert.deepInclude(portfolio.lastOperation, { operationId, outcome: "nothing_to_do", reason })
    })
  )

  it.effect("one that cannot reach a chain says `partly_traded`, and names the chain's skip", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      market.fund(accounts[1], arbUsdc.assetId, 10_000_000_000n)
      market.down.add(42161)
      const { outcome, reason, result } = yield* rebalanced(tenantId, portfolioId).pipe(
        Effect.ensuring(Effect.sync(() => market.down.clear()))
      )
      assert.strictEqual(outcome, "partly_traded")
      const skip = result.chains.find(({ chainId }) => chainId === 42161)?.skips[0]
      assert.strictEqual(skip?.code, SkipCode.chainUnavailable)
      assert.strictEqual(reason, skip?.reason)
    })
  )

  it.effect("one that moves nothing although it should says `skipped`, and why", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
      for (const chain of [8453, 42161]) market.down.add(chain)
      const { outcome, reason, state } = yield* rebalanced(tenantId, portfolioId).pipe(
        Effect.ensuring(Effect.sync(() => market.down.clear()))
      )
      assert.strictEqual(outcome, "skipped")
      assert.strictEqual(state, "failed")
      assert.isNotNull(reason)
    })
  )

  it.effect("a withdrawal says what left, what arrived and in which transaction", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const account = portfolio.accounts[0]
      ;(yield* TestChain).fund(account, baseUsdc.assetId, 1_000_000_000n)
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 400_000_000n]] })
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
      const { outcome, result } = yield* ended(
        { tenantId: portfolio.tenantId, portfolioId: portfolio.portfolioId, operationId },
        "withdraw"
      )
      assert.strictEqual(outcome, "traded")
      const [chain] = result.chains
      assert.deepStrictEqual(chain?.transfers, [
        {
          sell: baseUsdc.assetId,
          buy: baseUsdc.assetId,
          sentRaw: 400_000_000n,
          minOutRaw: 400_000_000n,
          receivedRaw: 400_000_000n,
          recipient: message.recipientAccountId,
          by: null
        }
      ])
      assert.lengthOf(chain?.transactions ?? [], 1)
      assert.isNull(chain!.transactions[0]!.userOpHash)
    })
  )

  it.effect("one that sells several assets into one says what each received only where that is known", () =>
    Effect.gen(function* () {
      const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(accounts[0], baseWeth.assetId, 4_000_000_000_000_000_000n)
      const { result } = yield* rebalanced(tenantId, portfolioId)
      for (const { swaps } of result.chains)
        for (const { buy, receivedRaw } of swaps) {
          const alone = swaps.filter((other) => other.buy === buy).length === 1
          assert.strictEqual(receivedRaw === null, !alone)
        }
    })
  )
})
