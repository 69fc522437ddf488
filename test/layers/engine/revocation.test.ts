/** Revocations over embedded PostgreSQL and a market in memory: how they end, and what they change at once. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option } from "effect"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptRevocation } from "#test/support/acceptedRevocation.ts"
import { type Enrolled, history, reached } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
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

const revoke = Effect.fnUntraced(function* (portfolio: Enrolled) {
  const operationId = yield* acceptRevocation(portfolio)
  yield* (yield* OperationLauncher).launch({ operationId, kind: "revoke" })
  return operationId
})

layer(Engine, { excludeTestServices: true })("a revocation", (it) => {
  it.effect("is put on every chain, and pauses the portfolio with the reason at once", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const operationId = yield* revoke(portfolio)
      const store = yield* PortfolioStore
      const { schedule } = Option.getOrThrow(yield* store.find(portfolio.tenantId, portfolio.portfolioId))
      assert.deepInclude(schedule, { status: "paused", pauseReason: "revoked" })
      const operation = yield* reached(portfolio, operationId)
      assert.deepInclude(operation, { kind: "revoke", state: "completed", error: null })
      const events = yield* history(operationId)
      assert.deepStrictEqual(events.slice(-2), ["revoked", "completed"])
    })
  )

  it.effect("starts no run of a revoked portfolio, by hand or by the schedule", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      yield* reached(portfolio, yield* revoke(portfolio))
      const { portfolioId, tenantId } = portfolio
      const now = yield* DateTime.now
      const operations = yield* OperationStore
      const submission = yield* operations.submitManual({
        operationId: yield* makeOperationId,
        tenantId,
        portfolioId,
        now,
        cooldownMs: 0
      })
      assert.strictEqual(submission._tag, "Revoked")
      const started = yield* (yield* PortfolioStore).start(tenantId, portfolioId, now)
      assert.deepInclude(Option.getOrThrow(started).schedule, { status: "paused", pauseReason: "revoked" })
    })
  )

  it.effect("waits for a chain that does not answer, and ends when it does", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const market = yield* TestChain
      const operationId = yield* acceptRevocation(portfolio)
      market.down.add(baseUsdc.chainId)
      yield* (yield* OperationLauncher).launch({ operationId, kind: "revoke" })
      yield* reached(portfolio, operationId, (state) => state === "retrying")
      market.down.delete(baseUsdc.chainId)
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.include(yield* history(operationId), "revocation_waits")
    })
  )

  it.effect("fails with the chain and its reason when a chain refuses it, and the portfolio stays revoked", () =>
    Effect.gen(function* () {
      const portfolio = yield* enrolledPortfolio
      const market = yield* TestChain
      market.refused.add(portfolio.accounts[0])
      const operation = yield* reached(portfolio, yield* revoke(portfolio))
      market.refused.clear()
      assert.strictEqual(operation.state, "failed")
      assert.strictEqual(operation.error, `chain ${baseUsdc.chainId} refuses the revocation: refused by the test`)
      const store = yield* PortfolioStore
      const { schedule } = Option.getOrThrow(yield* store.find(portfolio.tenantId, portfolio.portfolioId))
      assert.strictEqual(schedule?.pauseReason, "revoked")
    })
  )
})
