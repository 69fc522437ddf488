import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Assets } from "#domain/asset/Assets.ts"
import { addressOf } from "#domain/values/Caip.ts"
import type { Day } from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { Valuer } from "#domain/performance/Valuer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import {
  alone,
  dollars,
  nextPass,
  summary,
  usdc,
  usdcRaw,
  Valuers,
  weth,
  wethRaw,
  type World
} from "#test/domain/performance/valuedWorld.ts"
import { LedgerLive } from "#test/domain/performance/Ledger.ts"
import { submit } from "#test/layers/sql/fixtures.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { attemptOf, relayed } from "#test/support/chains/relayed.ts"
import { TestSettings, testSettings } from "#test/support/settings.ts"

layer(Valuers, { excludeTestServices: true })("Valuer", (it) => {
  it.effect("sees deposits, gains, trades and withdrawals for what they are", () =>
    Effect.gen(function* () {
      const { hold, ledger, onArbitrum, onBase, portfolioId, tenantId } = yield* alone
      hold(onBase, usdc, usdcRaw(2000))
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(2000), dollars(2000), Decimal.one])

      // Bought one WETH for 2000 dollars, and 500 dollars were deposited on the other chain.
      const { operationId } = yield* submit(tenantId, portfolioId)
      hold(onBase, usdc, 0n)
      hold(onBase, weth, wethRaw)
      hold(onArbitrum, arbUsdc.assetId, usdcRaw(500))
      yield* relayed(attemptOf(operationId, onBase), {
        blockNumber: ledger.block + 1n,
        deltas: [
          [usdc, -usdcRaw(2000)],
          [weth, wethRaw]
        ]
      })
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(2500), dollars(2500), Decimal.one])

      // WETH rises by a quarter, then half of it is withdrawn through the service.
      ledger.prices.set(weth, dollars(2500))
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(3000), dollars(2500), (dollars(1) * 6n) / 5n])
      hold(onBase, weth, wethRaw / 2n)
      const blockNumber = ledger.block + 1n
      yield* relayed(attemptOf(operationId, onBase, 2), { blockNumber, deltas: [[weth, -wethRaw / 2n]] })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE operations SET kind = 'withdraw' WHERE operation_id = ${operationId}`
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(1750), dollars(1250), (dollars(1) * 6n) / 5n])
    })
  )

  /**
   * Sends so many dollars from Base to Arbitrum, where one less is expected; answers how to say that something arrived.
   */
  const leave = Effect.fnUntraced(function* ({ ledger, onBase, portfolioId, tenantId }: World, left: number) {
    const { operationId: runId } = yield* submit(tenantId, portfolioId, { now: yield* DateTime.now })
    yield* relayed(attemptOf(runId, onBase), { blockNumber: ledger.block + 1n, deltas: [[usdc, -usdcRaw(left)]] })
    const transfers = yield* TransferLedger
    const [operationId] = yield* transfers.open({
      runId,
      attempt: 1,
      accountId: onBase,
      txHash: `0x${"7a".repeat(32)}`,
      at: yield* DateTime.now,
      transfers: [
        {
          sell: usdc,
          buy: arbUsdc.assetId,
          amountRaw: usdcRaw(left),
          minRaw: usdcRaw(left - 10),
          expectedRaw: usdcRaw(left - 1),
          bridgeAddress: addressOf(onBase),
          tool: "vault"
        }
      ]
    })
    return (raw: bigint, blockNumber: bigint) =>
      Effect.flatMap(DateTime.now, (at) => {
        const received = { assetId: arbUsdc.assetId, raw, txHash: `0x${"7b".repeat(32)}`, blockNumber }
        return transfers.close(operationId!, { state: "delivered", received, reason: null }, { at, closedBefore: 0 })
      })
  })

  /** 1,000 dollars on Base, of which 400 left for Arbitrum, where 399 are expected. */
  const outgoing = Effect.gen(function* () {
    const world = yield* alone
    const { hold, onBase, portfolioId } = world
    hold(onBase, usdc, usdcRaw(1000))
    yield* nextPass
    hold(onBase, usdc, usdcRaw(600))
    const close = yield* leave(world, 400)
    assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
    assert.deepStrictEqual(yield* summary(portfolioId), [dollars(1000), dollars(1000), Decimal.one])
    return { ...world, close }
  })

  const perMille = (n: number) => (Decimal.one * BigInt(n)) / 1000n

  it.effect("a transfer that takes long counts as what it will bring, at the price of its destination", () =>
    Effect.gen(function* () {
      const { close, hold, ledger, onArbitrum, portfolioId } = yield* outgoing
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(999), dollars(1000), perMille(999)])
      ledger.prices.set(arbUsdc.assetId, dollars(2))
      yield* nextPass
      assert.strictEqual((yield* summary(portfolioId))[0], dollars(1398))
      ledger.prices.set(arbUsdc.assetId, dollars(1))
      yield* nextPass
      assert.deepStrictEqual((yield* summary(portfolioId)).slice(0, 2), [dollars(999), dollars(1000)])

      hold(onArbitrum, arbUsdc.assetId, usdcRaw(398))
      yield* close(usdcRaw(398), ledger.block + 1n)
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
      assert.deepStrictEqual((yield* summary(portfolioId)).slice(0, 2), [dollars(998), dollars(1000)])
    })
  )

  it.effect("an arrival that the ledger did not know yet is no deposit in the end, and no gain or loss", () =>
    Effect.gen(function* () {
      const { close, hold, ledger, onArbitrum, portfolioId } = yield* outgoing
      yield* nextPass
      hold(onArbitrum, arbUsdc.assetId, usdcRaw(399))
      yield* nextPass
      assert.strictEqual((yield* summary(portfolioId))[0], dollars(1398), "counted in the balance and in transit, once")
      yield* close(usdcRaw(399), ledger.block)
      for (let pass = 1; pass <= 2; pass++) {
        yield* nextPass
        assert.deepStrictEqual(yield* summary(portfolioId), [dollars(999), dollars(1000), perMille(999)])
      }
    })
  )

  /** 900 of 1,000 dollars left before the first valuation. */
  const neverValued = Effect.gen(function* () {
    const world = yield* alone
    const { hold, ledger, onArbitrum, onBase } = world
    hold(onBase, usdc, usdcRaw(100))
    const close = yield* leave(world, 900)
    const arrived = () => hold(onArbitrum, arbUsdc.assetId, usdcRaw(899))
    const arrive = Effect.suspend(() => close(usdcRaw(899), ledger.block + 1n)).pipe(Effect.tap(Effect.sync(arrived)))
    return { ...world, arrive }
  })

  it.effect("what is on its way at the first valuation has come in, all of it", () =>
    Effect.gen(function* () {
      const { arrive, ledger, portfolioId } = yield* neverValued
      ledger.block += 10n
      assert.isTrue(yield* (yield* PortfolioValuer).value(portfolioId))
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(999), dollars(999), Decimal.one])
      yield* arrive
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(999), dollars(999), Decimal.one])
    })
  )

  it.effect("what arrived before the first valuation has come in, once", () =>
    Effect.gen(function* () {
      const { arrive, portfolioId } = yield* neverValued
      yield* arrive
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(999), dollars(999), Decimal.one])
    })
  )

  it.effect("what arrived is not counted twice while the chain that it left does not answer", () =>
    Effect.gen(function* () {
      const { close, hold, ledger, onArbitrum, onBase, portfolioId } = yield* outgoing
      const { value } = yield* PortfolioValuer
      ledger.down.add(8453)
      hold(onArbitrum, arbUsdc.assetId, usdcRaw(399))
      yield* close(usdcRaw(399), ledger.block + 1n)
      ledger.block += 10n
      // By its last valuation Base still holds what arrived.
      assert.isFalse(yield* value(portfolioId))
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(1000), dollars(1000), Decimal.one])
      ledger.down.clear()
      hold(onBase, usdc, usdcRaw(650))
      ledger.block += 10n
      assert.isTrue(yield* value(portfolioId))
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(1049), dollars(1050), perMille(999)])
    })
  )

  it.effect("waits while the chain has not shown whether a transfer intent has left", () =>
    Effect.gen(function* () {
      const { hold, onBase, portfolioId, tenantId } = yield* alone
      hold(onBase, usdc, usdcRaw(1000))
      yield* nextPass
      const [at, transfers] = [yield* DateTime.now, yield* TransferLedger]
      const { operationId: runId } = yield* submit(tenantId, portfolioId, { now: at })
      const intent = { runId, attempt: 1, accountId: onBase, at, transfers: [], actionHash: "0x5b", fromBlock: 1n }
      yield* transfers.recordIntent(intent)
      hold(onBase, usdc, usdcRaw(600))
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      yield* transfers.cancelIntent(runId, baseUsdc.chainId, 1)
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 0 })
    })
  )

  it.effect("a chain that does not answer leaves its portfolios as they were, until it does", () =>
    Effect.gen(function* () {
      const { hold, ledger, onArbitrum, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(10))
      hold(onArbitrum, arbUsdc.assetId, usdcRaw(10))
      ledger.down.add(42161)
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      assert.deepStrictEqual(yield* (yield* ValuationStore).days(portfolioId, 0 as Day), [])
      ledger.down.clear()
      yield* nextPass
      ledger.down.add(8453)
      hold(onBase, usdc, usdcRaw(15))
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(20), dollars(20), Decimal.one])
      ledger.down.clear()
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(25), dollars(25), Decimal.one])
    })
  )

  it.effect("a chain that fails again and again is left alone for the rest of a pass", () =>
    Effect.gen(function* () {
      const { ledger } = yield* alone
      for (let n = 0; n < 30; n++) yield* enrolledPortfolio
      ledger.down.add(8453)
      const result = yield* nextPass
      assert.deepStrictEqual(result, { valued: 0, missed: 31 })
      // Readings that were under way when it failed for the third time still count.
      assert.isBelow(ledger.asked.get(8453)!, 12)
    })
  )

  it.effect("waits for a trade of which it is not known whether it settled", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId, tenantId } = yield* alone
      hold(onBase, usdc, usdcRaw(2000))
      yield* nextPass
      const { operationId } = yield* submit(tenantId, portfolioId)
      yield* relayed(attemptOf(operationId, onBase))
      hold(onBase, usdc, 0n)
      hold(onBase, weth, wethRaw)
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      const deltas = [
        [usdc, -usdcRaw(2000)],
        [weth, wethRaw]
      ] as const
      yield* relayed(attemptOf(operationId, onBase), { blockNumber: ledger.block, deltas })
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(2000), dollars(2000), Decimal.one])
    })
  )

  it.effect("takes no answer from a node that lags behind, and no unknown balance for zero", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(10))
      yield* nextPass
      ledger.block -= 50n
      hold(onBase, usdc, usdcRaw(3))
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      ledger.block += 50n
      hold(onBase, usdc, null)
      assert.deepStrictEqual(yield* nextPass, { valued: 0, missed: 1 })
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(10), dollars(10), Decimal.one])
    })
  )

  it.effect("without prices nothing is valued", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      hold(onBase, usdc, usdcRaw(10))
      ledger.pricesDown = true
      yield* nextPass
      assert.deepStrictEqual(yield* (yield* ValuationStore).days(portfolioId, 0 as Day), [])
      ledger.pricesDown = false
      yield* nextPass
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(10), dollars(10), Decimal.one])
    })
  )

  it.effect("a value that cannot be right stops nobody else", () =>
    Effect.gen(function* () {
      const { hold, ledger, onBase, portfolioId } = yield* alone
      const other = yield* enrolledPortfolio
      hold(onBase, usdc, usdcRaw(10))
      hold(other.accounts[0], weth, 2n ** 255n)
      ledger.prices.set(weth, 10n ** 30n)
      assert.deepStrictEqual(yield* nextPass, { valued: 1, missed: 1 })
      assert.strictEqual((yield* summary(portfolioId))[0], dollars(10))
    })
  )

  it.effect("of passes at once each portfolio is valued by one, over all pages", () =>
    Effect.gen(function* () {
      const { hold, onBase, portfolioId } = yield* alone
      const others = [yield* enrolledPortfolio, yield* enrolledPortfolio, yield* enrolledPortfolio]
      hold(onBase, usdc, usdcRaw(10))
      for (const { accounts } of others) hold(accounts[0], usdc, usdcRaw(7))
      const { pass } = yield* Valuer
      const passes = yield* Effect.all([pass, pass, pass], { concurrency: "unbounded" })
      assert.strictEqual(
        passes.reduce((sum, { valued }) => sum + valued, 0),
        4
      )
      assert.deepStrictEqual(yield* summary(portfolioId), [dollars(10), dollars(10), Decimal.one])
      for (const other of others) assert.strictEqual((yield* summary(other.portfolioId))[1], dollars(7))
      assert.strictEqual((yield* pass).valued, 0)
    })
  )
})

describe("Valuer.fiber", () => {
  it.effect("passes now and at every interval, also after one that failed", () =>
    Effect.gen(function* () {
      const passes = yield* Ref.make(0)
      const store = Layer.mock(ValuationStore, {
        claim: () =>
          Effect.flatMap(
            Ref.updateAndGet(passes, (n) => n + 1),
            (n) =>
              n === 2 ? Effect.die(new Error("the second pass fails")) : Effect.succeed({ claimed: [], last: null })
          ),
        trades: () => Effect.succeed({ confirmed: new Map(), pending: new Set() }),
        record: () => Effect.succeed(new Set())
      })
      const assets = Layer.mock(Assets, { onChain: () => Effect.succeed([]) })
      const fiber = Valuer.fiber.pipe(
        Layer.provide(Valuer.layer),
        Layer.provide([store, assets, LedgerLive, TestSettings])
      )
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(0)
        assert.strictEqual(yield* Ref.get(passes), 1)
        yield* TestClock.adjust(testSettings.valuation.intervalMs - 1)
        assert.strictEqual(yield* Ref.get(passes), 1)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* Ref.get(passes), 2)
        yield* TestClock.adjust(testSettings.valuation.intervalMs)
        assert.strictEqual(yield* Ref.get(passes), 3)
      }).pipe(Effect.provide(fiber))
    })
  )
})
