import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type EvmAccountId, evmAccount } from "#domain/Caip.ts"
import { makeOperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import type { BatchReceipt, PreparedBatch, SignedTransaction } from "#domain/rebalance/ChainExecution.ts"
import { type AttemptId, RunStore } from "#domain/rebalance/RunStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, base, newAddress, noon, submit, usdc, weth, world } from "#test/layers/sql/fixtures.ts"

const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`

const prepared = (chainNonce = 0): PreparedBatch => ({
  chainId: base,
  accountId: evmAccount(base, newAddress()) as EvmAccountId,
  userOpHash: bytes32(7),
  callData: "0x",
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce,
  fromBlock: 2n ** 70n
})

const signing = (batch: PreparedBatch) => (nonce: number) =>
  Effect.succeed<SignedTransaction>({
    chainId: batch.chainId,
    userOpHash: batch.userOpHash,
    nonce,
    txHash: bytes32(nonce + 1),
    raw: `0x02${nonce.toString(16).padStart(8, "0")}`,
    fromBlock: batch.fromBlock
  })

const newAttempt = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  return { operationId, chainId: base, attempt: 0 } satisfies AttemptId
})

const reserve = Effect.fnUntraced(function* (
  attempt: AttemptId,
  relayer: ReturnType<typeof newAddress>,
  chainNonce = 0
) {
  const batch = prepared(chainNonce)
  return yield* (yield* RunStore).reserve(attempt, batch, relayer, noon, signing(batch))
})

eachDatabase("RunStore", (it) => {
  it.effect("reads the portfolio and the head version as they are when the run begins", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const { portfolio, portfolioId, strategy, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const allocation = [{ assetId: weth, weight: 10_000 }]
      yield* (yield* StrategyStore).publish({
        strategyId: strategy.strategyId,
        allocation,
        changeLog: null,
        createdAt: noon
      })
      assert.deepStrictEqual(
        yield* store.context(operationId),
        Option.some({
          operationId,
          tenantId,
          portfolioId,
          strategyVersion: 2,
          allocation,
          swap: strategy.swap,
          authorization: portfolio.flow.authorization,
          ownerSignature: portfolio.ownerSignature
        })
      )
      assert.isTrue(Option.isNone(yield* store.context(yield* makeOperationId)))
    })
  )

  it.effect("gives an attempt its stored transaction again, without signing", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const first = yield* reserve(attempt, relayer, 5)
      assert.strictEqual(first.nonce, 5)
      const again = yield* store.reserve(attempt, prepared(9), relayer, after(1), () =>
        Effect.die(new Error("signed twice"))
      )
      assert.deepStrictEqual(again, first)
      assert.strictEqual((yield* reserve({ ...attempt, attempt: 1 }, relayer)).nonce, 6)
    })
  )

  it.effect("follows the chain's count when it is ahead, never when it is behind", () =>
    Effect.gen(function* () {
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const nonces = []
      for (const [index, chainNonce] of [3, 0, 4, 10, 2].entries()) {
        nonces.push((yield* reserve({ ...attempt, attempt: index }, relayer, chainNonce)).nonce)
      }
      assert.deepStrictEqual(nonces, [3, 4, 5, 10, 11])
      assert.strictEqual((yield* reserve({ ...attempt, attempt: 9 }, newAddress())).nonce, 0)
    })
  )

  it.effect("gives fifty parallel attempts fifty consecutive nonces", () =>
    Effect.gen(function* () {
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const signed = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => index),
        (index) => reserve({ ...attempt, attempt: index }, relayer, 100),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        signed.map((each) => each.nonce).sort((a, b) => a - b),
        Array.from({ length: 50 }, (_, n) => 100 + n)
      )
    })
  )

  it.effect("gives parallel calls of one attempt one transaction and wastes no nonce", () =>
    Effect.gen(function* () {
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const signed = yield* Effect.replicateEffect(reserve(attempt, relayer), 10, { concurrency: "unbounded" })
      for (const each of signed) assert.deepStrictEqual(each, signed[0])
      assert.strictEqual((yield* reserve({ ...attempt, attempt: 1 }, relayer)).nonce, 1)
    })
  )

  it.effect("takes nonce and bytes back with the caller's transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const exit = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(reserve(attempt, relayer), Effect.fail("crash" as const)))
      )
      assert.deepStrictEqual(exit, Exit.fail("crash" as const))
      assert.strictEqual((yield* reserve({ ...attempt, attempt: 1 }, relayer)).nonce, 0)
      assert.strictEqual((yield* reserve(attempt, relayer)).nonce, 1)
    })
  )

  it.effect("records receipts of signed attempts only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RunStore
      const attempt = yield* newAttempt
      const receipt: BatchReceipt = {
        userOpHash: bytes32(7),
        txHash: bytes32(1),
        blockNumber: 12n,
        success: false,
        gasUsed: 2n ** 80n,
        deltas: [{ assetId: usdc, raw: -(2n ** 100n) }]
      }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.recordReceipt(attempt, receipt, noon))))
      yield* reserve(attempt, newAddress())
      yield* store.recordReceipt(attempt, receipt, after(1))
      const [row] = yield* sql<{ status: string; receipt: { readonly deltas: unknown } }>`
        SELECT status, receipt FROM user_operations WHERE operation_id = ${attempt.operationId}`
      assert.strictEqual(row?.status, "reverted")
      assert.deepStrictEqual(row?.receipt.deltas, [{ assetId: usdc, raw: `-${2n ** 100n}` }])
    })
  )

  it.effect("finishes a run once: report, state, version and time together", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const portfolios = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      assert.isTrue(Option.isNone(yield* store.report(operationId)))
      yield* operations.transition(operationId, "running", after(1), null)
      const end = { operationId, strategyVersion: 3, at: after(2), error: null, report: { legs: [], note: "a\0b" } }
      yield* store.finish(end)
      yield* store.finish({ ...end, at: after(3), error: "too late", report: {} })
      assert.deepStrictEqual(yield* store.report(operationId), Option.some({ legs: [], note: "a\uFFFDb" }))
      const operation = Option.getOrThrow(yield* operations.find(tenantId, portfolioId, operationId))
      assert.deepStrictEqual([operation.state, operation.finishedAt, operation.error], ["completed", after(2), null])
      const portfolio = Option.getOrThrow(yield* portfolios.find(tenantId, portfolioId))
      assert.strictEqual(portfolio.strategyVersion, 3)
      assert.deepStrictEqual(portfolio.schedule?.lastRebalanceAt, after(2))
      assert.deepStrictEqual(portfolio.updatedAt, after(2))
      assert.strictEqual((yield* operations.events(operationId, 0, 10)).length, 3)
    })
  )

  it.effect("keeps the time of the last completed run when a later one fails", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const first = yield* submit(tenantId, portfolioId)
      yield* operations.transition(first.operationId, "running", after(1), null)
      yield* store.finish({ operationId: first.operationId, strategyVersion: 1, at: after(2), error: null, report: {} })
      const second = yield* submit(tenantId, portfolioId, after(3))
      yield* store.finish({
        operationId: second.operationId,
        strategyVersion: 2,
        at: after(4),
        error: "no route",
        report: {}
      })
      const portfolio = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      assert.deepStrictEqual(portfolio.schedule?.lastRebalanceAt, after(2))
      assert.strictEqual(portfolio.strategyVersion, 2)
      assert.strictEqual(
        Option.getOrThrow(yield* operations.find(tenantId, portfolioId, second.operationId)).error,
        "no route"
      )
    })
  )

  it.effect("finishes once when many try, and refuses to complete a run that has not begun", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const end = { operationId, strategyVersion: 1, at: after(2), error: null, report: {} }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.finish(end))))
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.finish({ ...end, operationId: yield* makeOperationId }))))
      yield* operations.transition(operationId, "running", after(1), null)
      yield* Effect.replicateEffect(store.finish(end), 8, { concurrency: "unbounded" })
      assert.strictEqual((yield* operations.events(operationId, 0, 10)).length, 3)
    })
  )
})
