import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { makeOperationId, type TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { ChainId, evmAccount, type WalletId } from "#domain/values/Caip.ts"
import type { ExecutionHistory } from "#domain/execution/ExecutionHistory.ts"
import type { SignInWalletId } from "#domain/identity/User.ts"
import { after, arbitrum, base, insertTenant, noon, submit, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"
import { addressOf } from "#layers/evm/address.ts"

/** A run that was accepted at noon, and began a second later. */
const running = Effect.gen(function* () {
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  yield* (yield* OperationStore).transition({ operationId, to: "running", at: after(1_000), error: null })
  return { portfolioId, tenantId, operationId }
})

const ofTenant = (tenantId: TenantId) => ({ tenantId, walletId: null })

const settled = { chainId: 8453, totalSteps: 2, message: "Chain 8453: done" }

eachDatabase("ExecutionLog", (it) => {
  it.effect("finds an operation with its last event, for its tenant alone", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const { operationId, tenantId } = yield* running
      yield* store.append({ operationId, at: after(2_000), kind: "chain_settled", payload: settled })
      const head = Option.getOrThrow(yield* log.head(ofTenant(tenantId), operationId))
      assert.strictEqual(head.sequence, 3)
      assert.strictEqual(DateTime.toEpochMillis(head.at), DateTime.toEpochMillis(after(2_000)))
      assert.deepInclude(head.operation, { operationId, tenantId, state: "running", finishedAt: null })
      assert.isTrue(Option.isNone(yield* log.head(ofTenant(yield* insertTenant), operationId)))
      assert.isTrue(Option.isNone(yield* log.head(ofTenant(tenantId), yield* makeOperationId)))
    })
  )

  it.effect("finds the operations of a wallet's portfolios, and those of a contract by its one chain alone", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const sql = yield* SqlClient.SqlClient
      const { operationId, portfolioId, tenantId } = yield* running
      const elsewhere = yield* insertTenant
      const [row] = yield* sql<{ readonly owner: WalletId }>`
        SELECT owner_account_id AS owner FROM portfolios WHERE portfolio_id = ${portfolioId}`
      const { owner } = row!
      const first = { limit: 10, after: null }
      const found = Effect.fnUntraced(function* (walletId: SignInWalletId) {
        const access = { tenantId: elsewhere, walletId }
        const heads = yield* log.list(access, {}, first)
        const head = yield* log.head(access, operationId)
        assert.deepStrictEqual(heads, Option.toArray(head))
        return heads.map(({ operation }) => operation.operationId)
      })
      const onBase = evmAccount(base, addressOf(owner))
      assert.deepStrictEqual(yield* found(owner as SignInWalletId), [operationId])
      assert.deepStrictEqual(yield* found(onBase), [], "a contract at the same address is somebody else")
      yield* sql`
        UPDATE grants SET authorization_document = jsonb_set(authorization_document, '{accountType}', '"ERC1271"')
        WHERE portfolio_id = ${portfolioId}`
      assert.deepStrictEqual(yield* found(owner as SignInWalletId), [])
      assert.deepStrictEqual(yield* found(onBase), [operationId])
      assert.deepStrictEqual(yield* found(evmAccount(arbitrum, addressOf(owner))), [])
      const both = yield* log.list({ tenantId, walletId: onBase }, {}, first)
      assert.lengthOf(both, 1, "what is the tenant's and the wallet's is listed once")
    })
  )

  it.effect("takes the change to the terminal state for the last event, whatever a late writer adds", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const { operationId, tenantId } = yield* running
      yield* store.transition({ operationId, to: "failed", at: after(2_000), error: "the chain said no" })
      yield* store.append({ operationId, at: after(3_000), kind: "withdrawal_waits", payload: { reason: "late" } })
      const head = Option.getOrThrow(yield* log.head(ofTenant(tenantId), operationId))
      assert.strictEqual(head.sequence, 3)
      assert.deepInclude(head.operation, { state: "failed", error: "the chain said no" })
    })
  )

  it.effect("answers the history up to any event", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const { operationId } = yield* running
      yield* store.append({ operationId, at: after(2_000), kind: "chain_settled", payload: settled })
      yield* store.transition({ operationId, to: "retrying", at: after(3_000), error: null })
      yield* store.append({ operationId, at: after(4_000), kind: "chain_settled", payload: settled })
      yield* store.transition({ operationId, to: "failed", at: after(5_000), error: "the chain said no" })
      const expected: ReadonlyArray<ExecutionHistory> = [
        {
          sequence: 1,
          at: noon,
          state: "accepted",
          error: null,
          completedSteps: 0,
          totalSteps: null,
          recovered: false
        },
        {
          sequence: 2,
          at: after(1_000),
          state: "running",
          error: null,
          completedSteps: 0,
          totalSteps: null,
          recovered: false
        },
        {
          sequence: 3,
          at: after(2_000),
          state: "running",
          error: null,
          completedSteps: 1,
          totalSteps: 2,
          recovered: false
        },
        {
          sequence: 4,
          at: after(3_000),
          state: "retrying",
          error: null,
          completedSteps: 1,
          totalSteps: 2,
          recovered: true
        },
        {
          sequence: 5,
          at: after(4_000),
          state: "retrying",
          error: null,
          completedSteps: 2,
          totalSteps: 2,
          recovered: true
        },
        {
          sequence: 6,
          at: after(5_000),
          state: "failed",
          error: "the chain said no",
          completedSteps: 2,
          totalSteps: 2,
          recovered: true
        }
      ]
      for (const history of expected) {
        assert.deepStrictEqual(yield* log.historyAt(operationId, history.sequence), Option.some(history))
      }
      assert.isTrue(Option.isNone(yield* log.historyAt(operationId, 7)))
      assert.isTrue(Option.isNone(yield* log.historyAt(yield* makeOperationId, 1)))
    })
  )

  it.effect("names the operations that have more than their reader has read", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const first = yield* running
      const second = yield* running
      const readers = [
        { operationId: first.operationId, sequence: 2 },
        { operationId: second.operationId, sequence: 1 },
        { operationId: yield* makeOperationId, sequence: 0 }
      ]
      assert.deepStrictEqual(yield* log.grown(readers), [second.operationId])
      assert.deepStrictEqual(yield* log.grown([]), [])
      yield* (yield* OperationStore).append({
        operationId: first.operationId,
        at: after(2_000),
        kind: "chain_settled",
        payload: settled
      })
      assert.sameMembers([...(yield* log.grown(readers))], [first.operationId, second.operationId])
    })
  )

  it.effect("reads the transactions of a run from its report, whatever else that contains", () =>
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const { operationId } = yield* running
      assert.deepStrictEqual(yield* log.steps(operationId), [])
      const receipt = (byte: string, success: boolean) => ({
        actionHash: `0x${byte.repeat(32)}`,
        txHash: `0x${byte.repeat(31)}ff`,
        success,
        blockNumber: "7"
      })
      const report = {
        strategyVersion: 1,
        chains: [
          { chainId: 8453, swaps: [], skips: [], receipt: receipt("0a", true), failure: null, venue: "new" },
          { chainId: 42161, swaps: [], skips: [], receipt: null, failure: "no route" },
          { chainId: 10, swaps: [], skips: [], receipt: receipt("0b", false), failure: "reverted" }
        ]
      }
      yield* (yield* RunStore).finish({ operationId, strategyVersion: 1, at: after(9_000), error: null, report })
      assert.deepStrictEqual(yield* log.steps(operationId), [
        {
          chainId: ChainId.make(8453),
          actionHash: `0x${"0a".repeat(32)}`,
          txHash: `0x${"0a".repeat(31)}ff`,
          success: true
        },
        {
          chainId: ChainId.make(10),
          actionHash: `0x${"0b".repeat(32)}`,
          txHash: `0x${"0b".repeat(31)}ff`,
          success: false
        }
      ])
    })
  )
})
