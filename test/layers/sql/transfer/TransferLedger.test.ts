import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { erc20, evmAccount, type AccountId, type EvmAddress } from "#domain/values/Caip.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import type { TransferEnd } from "#domain/transfer/Transfer.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import {
  after,
  arbitrum,
  base,
  claimDue,
  newAddress,
  noon,
  pauseAll,
  submit,
  usdc,
  world
} from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"
import { addressOf } from "#layers/evm/address.ts"

const arbitrumUsdc = erc20(arbitrum, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" as EvmAddress)
const huge = 2n ** 200n

/** A run that sent USDC from Base to Arbitrum. */
const sending = Effect.gen(function* () {
  const { portfolio, portfolioId, tenantId } = yield* world()
  const { operationId: runId } = yield* submit(tenantId, portfolioId)
  const accountId = portfolio.flow.authorization.chains[0].accountId
  const ledger = yield* TransferLedger
  const transferred = {
    runId,
    attempt: 1,
    accountId,
    txHash: `0x${"aa".repeat(32)}`,
    at: noon,
    transfers: [
      {
        sell: usdc,
        buy: arbitrumUsdc,
        amountRaw: huge,
        minRaw: huge - 2n,
        expectedRaw: huge - 1n,
        bridgeAddress: newAddress(),
        tool: "vault"
      }
    ]
  }
  const intent = { ...transferred, actionHash: `0x${"bb".repeat(32)}`, fromBlock: 2n ** 70n }
  return { accountId, intent, transferred, ledger, portfolioId, runId, tenantId }
})

const delivered: TransferEnd = {
  state: "delivered",
  received: { assetId: arbitrumUsdc, raw: huge - 1n, txHash: `0x${"cc".repeat(32)}`, blockNumber: 2n ** 70n },
  reason: null
}

const span = (accountId: AccountId) => ({ accountId, after: 2n ** 70n - 1n, through: 2n ** 70n })

eachDatabase("TransferLedger", (it) => {
  it.effect("records an intent once, and an opened entry takes its place", () =>
    Effect.gen(function* () {
      const { intent, transferred, ledger, portfolioId } = yield* sending
      yield* ledger.recordIntent(intent)
      yield* ledger.recordIntent(intent)
      const [stored, ...others] = yield* ledger.intentsOf(portfolioId)
      assert.lengthOf(others, 0)
      assert.strictEqual(stored!.fromBlock, intent.fromBlock)
      assert.deepStrictEqual(stored!.transfers, intent.transfers)
      const ids = yield* ledger.open(transferred)
      assert.deepStrictEqual(yield* ledger.open(transferred), ids)
      assert.lengthOf(yield* ledger.intentsOf(portfolioId), 0)
      const [entry] = yield* ledger.openOf(portfolioId)
      assert.strictEqual(entry!.amountRaw, huge)
      assert.strictEqual(entry!.operationId, ids[0])
      assert.deepStrictEqual(Option.getOrThrow(yield* ledger.find(ids[0]!)), entry)
    })
  )

  it.effect("cancels an intent", () =>
    Effect.gen(function* () {
      const { intent, ledger, portfolioId, runId } = yield* sending
      yield* ledger.recordIntent(intent)
      yield* ledger.cancelIntent(runId, base, 1)
      assert.lengthOf(yield* ledger.intentsOf(portfolioId), 0)
    })
  )

  it.effect("closes once: entry, operation and schedule together", () =>
    Effect.gen(function* () {
      const { transferred, ledger, portfolioId, tenantId } = yield* sending
      const sql = yield* SqlClient.SqlClient
      const [operationId] = yield* ledger.open(transferred)
      const state = Effect.map(
        Effect.flatMap(OperationStore, (store) => store.find(tenantId, portfolioId, operationId!)),
        (operation) => Option.getOrThrow(operation).state
      )
      assert.strictEqual(yield* state, "accepted")
      assert.isTrue(yield* ledger.close(operationId!, delivered, { at: after(1_000), closedBefore: 0 }))
      assert.isFalse(
        yield* ledger.close(operationId!, { ...delivered, state: "partial" }, { at: after(2_000), closedBefore: 0 })
      )
      assert.strictEqual(yield* state, "completed")
      assert.lengthOf(yield* ledger.openOf(portfolioId), 0)
      const [schedule] = yield* sql<{ readonly due: boolean }>`
        SELECT due_at <= ${new Date(noon.epochMilliseconds + 1_000)} AS due FROM schedules
        WHERE portfolio_id = ${portfolioId}`
      assert.isTrue(schedule!.due)
    })
  )

  it.effect("what arrives while a run is under way makes the portfolio due again at the run's end", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const { transferred, ledger, portfolioId, runId } = yield* sending
      const sql = yield* SqlClient.SqlClient
      const runs = yield* RunStore
      const dueAt = Effect.map(
        sql<{ readonly due_at: Date }>`SELECT due_at FROM schedules WHERE portfolio_id = ${portfolioId}`,
        ([row]) => row!.due_at.getTime()
      )
      const [operationId] = yield* ledger.open(transferred)
      yield* ledger.close(operationId!, delivered, { at: after(1_000), closedBefore: 0 })
      assert.deepStrictEqual(yield* claimDue(after(2_000), 10), [], "the run is not finished")
      assert.isAbove(yield* dueAt, after(3_000).epochMilliseconds, "so the period passes")
      yield* Effect.flatMap(OperationStore, (store) =>
        store.transition({ operationId: runId, to: "running", at: after(2_500), error: null })
      )
      yield* runs.finish({ operationId: runId, strategyVersion: 1, at: after(3_000), error: null, report: {} })
      assert.strictEqual(yield* dueAt, after(3_000).epochMilliseconds)
      const [next] = yield* claimDue(after(4_000), 10)
      assert.isDefined(next, "and then what arrived is traded")
      yield* Effect.flatMap(OperationStore, (store) =>
        store.transition({ operationId: next!, to: "running", at: after(4_500), error: null })
      )
      yield* runs.finish({ operationId: next!, strategyVersion: 1, at: after(5_000), error: null, report: {} })
      assert.isAbove(yield* dueAt, after(6_000).epochMilliseconds, "once")
    })
  )

  it.effect("what did not arrive as it should ends the operation as failed, with its reason", () =>
    Effect.gen(function* () {
      const { transferred, ledger, portfolioId, tenantId } = yield* sending
      const [operationId] = yield* ledger.open(transferred)
      const end: TransferEnd = { state: "refunded", received: null, reason: "it came back" }
      yield* ledger.close(operationId!, end, { at: after(1_000), closedBefore: 0 })
      const found = yield* Effect.flatMap(OperationStore, (store) => store.find(tenantId, portfolioId, operationId!))
      const { error, state } = Option.getOrThrow(found)
      assert.deepStrictEqual([state, error], ["failed", "it came back"])
    })
  )

  it.effect("makes performance wait while it is open, and is no deposit once it has arrived", () =>
    Effect.gen(function* () {
      const { accountId, transferred, ledger } = yield* sending
      const destination = evmAccount(arbitrum, addressOf(accountId))
      const { trades } = yield* ValuationStore
      const spans = [span(accountId), span(destination)]
      const [operationId] = yield* ledger.open(transferred)
      assert.deepStrictEqual([...(yield* trades(spans)).pending].sort(), [accountId, destination].sort())
      yield* ledger.close(operationId!, delivered, { at: after(1_000), closedBefore: 0 })
      const { confirmed: settled, pending: unsettled } = yield* trades(spans)
      assert.strictEqual(unsettled.size, 0)
      assert.strictEqual(settled.get(destination)?.get(arbitrumUsdc), huge - 1n)
      assert.isUndefined(settled.get(accountId))
    })
  )
})
