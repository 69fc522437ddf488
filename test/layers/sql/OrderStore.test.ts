/** Orders are accepted once for each request id, whoever asks at the same time, and end once with what they did. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStore, type NewOrder } from "#domain/order/OrderStore.ts"
import type { OrderTerms, OrderOutcome } from "#domain/order/OrderTerms.ts"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { addressOf } from "#layers/evm/address.ts"
import { noon, world } from "#test/layers/sql/fixtures.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { eachDatabase } from "#test/support/database.ts"

const bytes32 = (byte: string) => `0x${byte.repeat(32)}`
const hashOf = (byte: number) => new Uint8Array(32).fill(byte)

const portfolio = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const source = Option.getOrThrow(yield* (yield* OrderStore).source(portfolioId))
  const [chain] = source.grants[0].authorization.chains
  const order: OrderTerms = {
    _tag: "Swap",
    chainId: chain.chainId,
    accountId: chain.accountId,
    sell: baseUsdc.assetId,
    buy: baseWeth.assetId,
    amountRaw: 7n,
    slippageBps: null
  }
  return { portfolioId, tenantId, order, accountId: chain.accountId }
})
type Portfolio = Effect.Success<typeof portfolio>

const newAction = Effect.fnUntraced(function* (
  { order, portfolioId, tenantId }: Portfolio,
  changes: Partial<NewOrder> = {}
) {
  const action: NewOrder = {
    operationId: yield* makeOperationId,
    submittedAt: noon,
    correlationId: "desk-1",
    tenantId,
    portfolioId,
    requestId: "one",
    requestHash: hashOf(1),
    order,
    ...changes
  }
  return action
})

eachDatabase("OrderStore", (it) => {
  it.effect("of a burst with one id one is accepted, and all others are answered it; nothing else is left", () =>
    Effect.gen(function* () {
      const store = yield* OrderStore
      const sql = yield* SqlClient.SqlClient
      const own = yield* portfolio
      const submissions = yield* Effect.forEach(
        Array.from({ length: 24 }),
        () => Effect.flatMap(newAction(own), store.submit),
        { concurrency: "unbounded" }
      )
      const accepted = submissions.filter(({ _tag }) => _tag === "Accepted")
      assert.lengthOf(accepted, 1)
      const ids = submissions.map((one) => (one._tag === "Mismatch" ? "mismatch" : one.accepted.operationId))
      assert.lengthOf(new Set(ids), 1)
      const [left] = yield* sql`
        SELECT (SELECT count(*)::int FROM operations WHERE portfolio_id = ${own.portfolioId}) AS operations,
          (SELECT count(*)::int FROM operation_events WHERE operation_id = ${ids[0]!}) AS events`
      assert.deepStrictEqual(left, { operations: 1, events: 1 })
      const other = yield* store.submit(yield* newAction(own, { requestHash: hashOf(2) }))
      assert.strictEqual(other._tag, "Mismatch")
      const free = yield* store.submit(yield* newAction(own, { requestId: null }))
      assert.strictEqual(free._tag, "Accepted")
      assert.strictEqual((yield* store.submit(yield* newAction(own, { requestId: null })))._tag, "Accepted")
    })
  )

  it.effect("reads an action as it was accepted, with what withdrawals were promised meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* OrderStore
      const own = yield* portfolio
      const action = yield* newAction(own)
      yield* store.submit(action)
      const before = Option.getOrThrow(yield* store.find(action.operationId))
      assert.deepStrictEqual(before.order, own.order)
      assert.deepInclude(before, { correlationId: "desk-1", isRevoked: false, promised: [] })
      assert.isTrue(DateTime.Equivalence(before.submittedAt, noon))
      yield* acceptWithdrawal(own, {
        accountId: own.accountId,
        message: yield* messageOf(own, own.accountId, { assets: [[baseUsdc.assetId, 5n]] })
      })
      const { promised } = Option.getOrThrow(yield* store.find(action.operationId))
      assert.deepStrictEqual(promised, [{ assetId: baseUsdc.assetId, raw: 5n }])
      assert.isTrue(Option.isNone(yield* store.find(yield* makeOperationId)))
    })
  )

  it.effect("ends once, with an outcome that the stream of its events sends; calls are of a kind of their own", () =>
    Effect.gen(function* () {
      const store = yield* OrderStore
      const operations = yield* OperationStore
      const log = yield* ExecutionLog
      const own = yield* portfolio
      const { accountId, order } = own
      const calls: OrderTerms = {
        _tag: "Calls",
        chainId: order.chainId,
        accountId,
        calls: [{ to: addressOf(accountId), data: "0x12" }]
      }
      const action = yield* newAction(own, { order: calls })
      const { operationId } = action
      yield* store.submit(action)
      assert.deepStrictEqual(Option.getOrThrow(yield* store.find(operationId)).order, calls)
      const found = Option.getOrThrow(yield* operations.find(own.tenantId, own.portfolioId, operationId))
      assert.strictEqual(found.kind, "execute")
      yield* operations.transition({ operationId, to: "running", at: noon, error: null })
      assert.isNull(yield* store.outcome(operationId))
      const outcome: OrderOutcome = {
        chainId: order.chainId,
        receipt: {
          actionHash: bytes32("0b"),
          txHash: bytes32("5c"),
          blockNumber: 9n,
          blockHash: bytes32("bb"),
          success: true,
          gasUsed: 21_000n,
          deltas: [{ assetId: baseUsdc.assetId, raw: -7n }]
        }
      }
      yield* store.finish({ operationId, at: noon, error: null, outcome })
      yield* store.finish({ operationId, at: noon, error: "late", outcome: null })
      assert.deepStrictEqual(yield* store.outcome(operationId), outcome)
      const ended = Option.getOrThrow(yield* operations.find(own.tenantId, own.portfolioId, operationId))
      assert.deepInclude(ended, { state: "completed", error: null })
      assert.deepStrictEqual(yield* log.steps(operationId), [
        { chainId: order.chainId, actionHash: bytes32("0b"), txHash: bytes32("5c"), success: true }
      ])
    })
  )
})
