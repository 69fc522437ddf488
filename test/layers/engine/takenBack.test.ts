/** Runs whose gas becomes dearer than it may be, over embedded PostgreSQL and a market in memory. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { attentionOf } from "#domain/portfolio/Attention.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { acceptWithdrawal, history, messageOf, reached } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
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

type Portfolio = Effect.Success<typeof enrolledPortfolio>

const funded = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  const [account] = portfolio.accounts
  market.fund(account, baseUsdc.assetId, 10_000_000_000n)
  return { account, market, portfolio }
})

const rebalance = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio) {
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "rebalance" })
  return operationId
})

const attemptsOf = Effect.fnUntraced(function* (operationId: OperationId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly status: string; readonly isTakenBack: boolean | null }>`
    SELECT status, (receipt ->> 'isTakenBack')::boolean AS "isTakenBack" FROM relayed_actions
    WHERE operation_id = ${operationId} ORDER BY attempt`
  return rows.map(({ isTakenBack, status }) => (isTakenBack === true ? "taken back" : status))
})

const until = (operationId: OperationId, kind: string) =>
  history(operationId).pipe(
    Effect.filterOrFail((events) => events.includes(kind)),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout(patience)
  )

layer(engineThat(Duration.hours(1)), { excludeTestServices: true })("a run whose gas becomes too dear", (it) => {
  it.effect("waits with its reason in attention, and lands as it was signed when the market falls", () =>
    Effect.gen(function* () {
      const { market, portfolio } = yield* funded
      market.dearNonces = 100
      const operationId = yield* rebalance(portfolio)
      yield* until(operationId, "gas_waits")
      const { portfolioId, tenantId } = portfolio
      const stored = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      const found = attentionOf(stored.facts, yield* DateTime.now).find(({ code }) => code === "gas_too_dear")
      assert.deepInclude(found, { actor: "operator", operationId })
      assert.include(found!.action, "gas on chain 8453 costs more than the")
      assert.strictEqual(market.included.size, 0)
      market.dearNonces = 0
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.deepStrictEqual(yield* attemptsOf(operationId), ["succeeded"])
      assert.strictEqual(market.takenBack.size, 0)
      assert.strictEqual((yield* history(operationId)).filter((kind) => kind === "gas_waits").length, 1)
    })
  )
})

layer(engineThat(Duration.zero), { excludeTestServices: true })("a run whose gas stays too dear", (it) => {
  it.effect("is taken back once and made anew by plan, and trades once", () =>
    Effect.gen(function* () {
      const { market, portfolio } = yield* funded
      market.dearNonces = 1
      const operationId = yield* rebalance(portfolio)
      const operation = yield* reached(portfolio, operationId)
      assert.strictEqual(operation.state, "completed", operation.error ?? "")
      assert.deepStrictEqual(yield* attemptsOf(operationId), ["taken back", "succeeded"])
      assert.strictEqual(market.takenBack.size, 1)
      assert.strictEqual(market.included.size, 1)
    })
  )

  it.effect("is a swap: the same", () =>
    Effect.gen(function* () {
      const { account, market, portfolio } = yield* funded
      const [used, before] = [market.takenBack.size, market.included.size]
      // The market counts what was taken back alone.
      market.usedNonces = 2
      market.dearNonces = 3
      const operationId = yield* acceptSwap(portfolio, account, { amountRaw: 200_000_000n })
      yield* (yield* OperationLauncher).launch({ operationId, kind: "swap" })
      const operation = yield* reached(portfolio, operationId)
      assert.strictEqual(operation.state, "completed", operation.error ?? "")
      assert.deepStrictEqual(yield* attemptsOf(operationId), ["taken back", "succeeded"])
      assert.strictEqual(market.takenBack.size, used + 1)
      assert.strictEqual(market.included.size, before + 1)
    })
  )

  it.effect("is what an owner signed: it follows the market, and is never taken back", () =>
    Effect.gen(function* () {
      const { account, market, portfolio } = yield* funded
      const used = market.takenBack.size
      market.usedNonces = 4
      market.dearNonces = 100
      const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 200_000_000n]] })
      const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
      yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.deepStrictEqual(yield* attemptsOf(operationId), ["succeeded"])
      assert.strictEqual(market.takenBack.size, used)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 9_800_000_000n)
    })
  )
})
