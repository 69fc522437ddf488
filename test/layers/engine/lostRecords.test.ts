/**
 * Orders and rebalances after a failover to a copy of the database that lacks the records of what carried them out: the
 * copy has the order, or the plan, alone; the chain has the operation.
 */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Duration, Effect, Layer, Schedule, Schema } from "effect"
import type { OrderTerms } from "#domain/order/OrderTerms.ts"
import { OrderStore } from "#domain/order/OrderStore.ts"
import { addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { isTerminal, type ReportedOperation } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

const Engine = EngineLive.pipe(
  Layer.provideMerge(TestChains),
  Layer.provide(
    Layer.succeed(RelayTiming, {
      searchFor: Duration.seconds(1),
      searchInterval: Duration.millis(100),
      holdFor: Duration.minutes(5)
    })
  ),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const hash = (byte: string) => `0x${byte.repeat(32)}`

/** What the chain shows of an operation that has no record. */
const receiptOf = (byte: string, success: boolean): ActionReceipt => ({
  actionHash: hash(byte),
  txHash: hash(`${byte[0]}f`),
  blockNumber: 11n,
  blockHash: hash("ee"),
  success,
  gasUsed: 1n,
  deltas: success ? [{ assetId: baseWeth.assetId, raw: 390_000_000_000_000_000n }] : []
})

const swap = {
  _tag: "Swap" as const,
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  amountRaw: 1_000_000_000n,
  slippageBps: null
}

/** An order that was accepted so many seconds ago, and the account's dollars. */
const accepted = Effect.fnUntraced(function* (seconds: number, calls = false) {
  const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
  const operationId = yield* makeOperationId
  const place = { chainId: baseUsdc.chainId, accountId: accounts[0] }
  const order: OrderTerms = calls
    ? { _tag: "Calls", ...place, calls: [{ to: addressOf(baseUsdc.assetId) as EvmAddress, data: "0x" }] }
    : { ...place, ...swap }
  yield* (yield* OrderStore).submit({
    operationId,
    tenantId,
    portfolioId,
    submittedAt: DateTime.subtract(yield* DateTime.now, { seconds }),
    correlationId: "0".repeat(32),
    requestId: null,
    requestHash: new Uint8Array(32),
    order
  })
  const run = (kind: "swap" | "execute") =>
    Effect.gen(function* () {
      yield* (yield* OperationLauncher).launch({ operationId, kind })
      return yield* (yield* OperationStore).find(tenantId, portfolioId, operationId).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.filterOrFail(({ state }) => isTerminal(state)),
        Effect.retry(Schedule.spaced("50 millis"))
      )
    })
  return { market, operationId, run }
})

const includedBy = (operationId: OperationId, receipt: ActionReceipt) =>
  Effect.map(TestChain, (market) => {
    market.tagged.set(receipt.actionHash, operationId)
    market.included.set(receipt.actionHash, receipt)
  })

layer(Engine, { excludeTestServices: true })("an order whose operation has no record", (it) => {
  it.effect("is not carried out again when the chain shows it, and says what it came to", () =>
    Effect.gen(function* () {
      const { market, operationId, run } = yield* accepted(30)
      const receipt = receiptOf("a1", true)
      yield* includedBy(operationId, receipt)
      const sent = market.broadcasts.length
      const operation = yield* run("swap")
      assert.strictEqual(operation.state, "completed")
      assert.strictEqual(operation.outcome, "traded")
      assert.lengthOf(market.broadcasts, sent, "nothing was sent")
      const outcome = yield* (yield* OrderStore).outcome(operationId)
      assert.deepStrictEqual(outcome?.receipt, receipt)
      const [done] = operation.result!.chains[0]!.swaps
      assert.deepInclude(done, {
        sell: baseUsdc.assetId,
        soldRaw: swap.amountRaw,
        receivedRaw: 390_000_000_000_000_000n
      })
    })
  )

  it.effect("of calls is not carried out again either", () =>
    Effect.gen(function* () {
      const { market, operationId, run } = yield* accepted(30, true)
      yield* includedBy(operationId, receiptOf("a2", true))
      const sent = market.broadcasts.length
      assert.strictEqual((yield* run("execute")).state, "completed")
      assert.lengthOf(market.broadcasts, sent, "nothing was sent")
    })
  )

  it.effect("is carried out once when what the chain shows of it was reverted", () =>
    Effect.gen(function* () {
      const { market, operationId, run } = yield* accepted(30)
      yield* includedBy(operationId, receiptOf("a3", false))
      const sent = market.broadcasts.length
      assert.strictEqual((yield* run("swap")).state, "completed")
      assert.lengthOf(market.broadcasts, sent + 1)
      const included = [...market.included.values()].filter(
        ({ actionHash, success }) => success && market.tagged.get(actionHash) === operationId
      )
      assert.lengthOf(included, 1)
    })
  )

  it.effect("is not carried out again either after the time in which a swap is made", () =>
    Effect.gen(function* () {
      const { market, operationId, run } = yield* accepted(3_600)
      yield* includedBy(operationId, receiptOf("a4", true))
      const sent = market.broadcasts.length
      assert.strictEqual((yield* run("swap")).state, "completed")
      assert.lengthOf(market.broadcasts, sent)
    })
  )

  it.effect("of calls ends two hours after it was asked for, and nothing is sent", () =>
    Effect.gen(function* () {
      const { market, run } = yield* accepted(7_201, true)
      const sent = market.broadcasts.length
      const { error, state } = yield* run("execute")
      assert.strictEqual(state, "failed")
      assert.include(error, "within two hours")
      assert.lengthOf(market.broadcasts, sent)
    })
  )
})

layer(Engine, { excludeTestServices: true })("calls that the chain reverts", (it) => {
  it.effect("are paid for once: the operation ends with what the chain says of it", () =>
    Effect.gen(function* () {
      const { market, run } = yield* accepted(30, true)
      const sent = market.broadcasts.length
      market.reverts.set(Number(baseUsdc.chainId), 1)
      const { error, state } = yield* run("execute")
      market.reverts.delete(Number(baseUsdc.chainId))
      assert.strictEqual(state, "failed")
      assert.match(error!, /was reverted in 0x\w+; calls that the chain reverted are not tried again/u)
      assert.lengthOf(market.broadcasts, sent + 1)
    })
  )
})

layer(Engine, { excludeTestServices: true })("calls whose nonce another operation used", (it) => {
  it.effect("have not run, and are made with the next one", () =>
    Effect.gen(function* () {
      const { market, run } = yield* accepted(30, true)
      const sent = market.broadcasts.length
      let overtaken = 0
      market.at = (step) =>
        Effect.sync(() => {
          if (step !== "sign" || overtaken > 0) return
          overtaken += 1
          for (const account of market.nonces.keys()) market.nonces.set(account, (market.nonces.get(account) ?? 0) + 1)
        })
      const { error, state } = yield* run("execute")
      market.at = () => Effect.void
      assert.strictEqual(state, "completed", error ?? "")
      assert.strictEqual(market.overtaken, 1)
      assert.lengthOf(market.broadcasts, sent + 2)
    })
  )
})

/** Longer than what is younger than a failover. */
const longEnough = "5200 millis"

/**
 * A rebalance of 10,000 dollars on one chain, with another on target. When its first batch is prepared, the chain has
 * carried it out already: what was sent before is on the chain, and the copy of the database has the plan alone. Or it
 * has attempts that were reverted besides.
 */
const rebalancedUnrecorded = Effect.fnUntraced(function* (
  byte: string,
  { unsettledTags = 0, reverts = 0 }: { readonly unsettledTags?: number; readonly reverts?: number } = {}
) {
  const { accounts, portfolioId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.fund(accounts[1], arbUsdc.assetId, 4_000_000_000n)
  market.fund(accounts[1], arbWeth.assetId, 2_400_000_000_000_000_000n)
  market.unsettledTags = unsettledTags
  const store = yield* OperationStore
  const operationId = yield* makeOperationId
  const sent = market.broadcasts.length
  market.reverts.set(Number(baseUsdc.chainId), reverts)
  let prepared = 0
  market.at = (step) =>
    Effect.suspend(() => {
      if (step !== "prepare" || prepared++ !== reverts) return Effect.void
      market.fund(accounts[0], baseUsdc.assetId, -6_000_000_000n)
      market.fund(accounts[0], baseWeth.assetId, 2_392_000_000_000_000_000n)
      const deltas = [
        { assetId: baseUsdc.assetId, raw: -6_000_000_000n },
        { assetId: baseWeth.assetId, raw: 2_392_000_000_000_000_000n }
      ]
      return Effect.andThen(
        Effect.sleep(longEnough),
        includedBy(operationId, { ...receiptOf(byte, true), deltas })
      ).pipe(Effect.provideService(TestChain, market))
    })
  yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "rebalance" })
  const operation = yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("50 millis"))
  )
  market.at = () => Effect.void
  return { operation, operationId, sent: market.broadcasts.length - sent }
})

const isTraded = (operation: ReportedOperation) => {
  assert.strictEqual(operation.state, "completed", operation.error ?? "")
  assert.strictEqual(operation.outcome, "traded")
  const [done] = operation.result!.chains.find(({ chainId }) => chainId === baseUsdc.chainId)!.swaps
  assert.deepInclude(done, {
    sell: baseUsdc.assetId,
    soldRaw: 6_000_000_000n,
    receivedRaw: 2_392_000_000_000_000_000n
  })
}

layer(Engine, { excludeTestServices: true })(
  "a rebalance whose plan is stored and whose trades have no record",
  (it) => {
    it.effect("trades nothing again when the chain shows them, and says what they came to", () =>
      Effect.gen(function* () {
        const { operation, sent } = yield* rebalancedUnrecorded("a5")
        isTraded(operation)
        assert.strictEqual(sent, 0)
      })
    )

    it.effect("waits for a block that does not count yet", () =>
      Effect.gen(function* () {
        const { operation, sent } = yield* rebalancedUnrecorded("a6", { unsettledTags: 2 })
        isTraded(operation)
        assert.strictEqual(sent, 0)
      })
    )

    it.effect("has traded, although an attempt that is known was reverted before", () =>
      Effect.gen(function* () {
        const { operation, operationId, sent } = yield* rebalancedUnrecorded("a7", { reverts: 1 })
        isTraded(operation)
        assert.strictEqual(sent, 1)
        const stored = yield* Effect.flatMap((yield* RunStore).report(operationId), Effect.fromOption)
        const { chains } = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport))(stored)
        const { failure, reverted = [] } = chains.find(({ chainId }) => chainId === baseUsdc.chainId)!
        assert.isNull(failure)
        assert.deepStrictEqual(
          reverted.map(({ success }) => success),
          [false]
        )
      })
    )
  }
)
