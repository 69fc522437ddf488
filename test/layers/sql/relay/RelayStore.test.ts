import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { RunFence, RunMoved } from "#layers/sql/run/RunFence.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, base, newAddress, noon, submit, usdc, world } from "#test/layers/sql/fixtures.ts"

const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`
const prepared = (chainNonce = 0): PreparedTransaction => ({
  _tag: "Evm",
  chainId: base,
  accountId: evmAccount(base, newAddress()) as AccountId,
  actionHash: bytes32(7),
  to: newAddress(),
  callData: "0x",
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce,
  laneNonces: [],
  fromBlock: 2n ** 70n
})

const signing = (batch: PreparedTransaction, relayer: EvmAddress) => (nonce: number) =>
  Effect.succeed<SignedTransaction>({
    chainId: batch.chainId,
    actionHash: batch.actionHash,
    relayer,
    nonce,
    txHash: bytes32(nonce + 1),
    raw: `0x02${nonce.toString(16).padStart(8, "0")}`,
    fromBlock: batch.fromBlock,
    replaces: []
  })

const raised = (transaction: SignedTransaction, n: number): SignedTransaction => ({
  ...transaction,
  txHash: bytes32(0xbeef00 + n),
  raw: `0x02be${n.toString(16).padStart(2, "0")}`,
  replaces: [...transaction.replaces, transaction.txHash]
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
  const store = yield* RelayStore
  const batch = prepared(chainNonce)
  yield* store.reserve([{ attempt, prepared: batch }], { accounts: [relayer], at: noon, sign: signing(batch, relayer) })
  return Option.getOrThrow(yield* store.sent(attempt)).transaction
})

eachDatabase("RelayStore", (it) => {
  it.effect("gives an attempt its stored transaction again, without signing", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const first = yield* reserve(attempt, relayer, 5)
      assert.strictEqual(first.nonce, 5)
      const isNew = yield* store.reserve([{ attempt, prepared: prepared(9) }], {
        accounts: [relayer],
        at: after(1),
        sign: () => Effect.die(new Error("signed twice"))
      })
      assert.isFalse(isNew)
      assert.deepStrictEqual(Option.getOrThrow(yield* store.sent(attempt)).transaction, first)
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
      const store = yield* RelayStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const batch = prepared()
      const exit = yield* Effect.exit(
        sql.withTransaction(
          Effect.andThen(
            store.reserve([{ attempt, prepared: batch }], {
              accounts: [relayer],
              at: noon,
              sign: signing(batch, relayer)
            }),
            Effect.fail("crash" as const)
          )
        )
      )
      assert.deepStrictEqual(exit, Exit.fail("crash" as const))
      assert.strictEqual((yield* reserve({ ...attempt, attempt: 1 }, relayer)).nonce, 0)
      assert.strictEqual((yield* reserve(attempt, relayer)).nonce, 1)
    })
  )

  it.effect("wastes no nonce when the key gives no signature", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const unsigned = new ChainUnavailable({ chainId: base, reason: "the key gave no signature" })
      const refused = store.reserve([{ attempt, prepared: prepared() }], {
        accounts: [relayer],
        at: noon,
        sign: () => Effect.fail(unsigned)
      })
      assert.deepStrictEqual(yield* Effect.flip(refused), unsigned)
      assert.isTrue(Option.isNone(yield* store.sent(attempt)))
      assert.strictEqual((yield* reserve(attempt, relayer)).nonce, 0)
      const stored = Option.getOrThrow(yield* store.sent(attempt))
      assert.deepStrictEqual(yield* Effect.flip(store.replace(stored, after(1), Effect.fail(unsigned))), unsigned)
      assert.deepStrictEqual(yield* store.sent(attempt), Option.some(stored))
    })
  )

  it.effect(
    "gives each transaction to the relayer with the fewest that are not settled, each with its own nonces",
    () =>
      Effect.gen(function* () {
        const store = yield* RelayStore
        const [first, second] = [newAddress(), newAddress()]
        const attempt = yield* newAttempt
        const batch = { ...prepared(3), laneNonces: [{ relayer: second, nonce: 70 }] }
        const take = Effect.fnUntraced(function* (number: number) {
          const one = { ...attempt, attempt: number }
          yield* store.reserve([{ attempt: one, prepared: batch }], {
            accounts: [first, second],
            at: noon,
            sign: (nonce, account) => signing(batch, account)(nonce)
          })
          return Option.getOrThrow(yield* store.sent(one)).transaction
        })
        const taken = yield* Effect.forEach([0, 1, 2, 3], take)
        assert.deepStrictEqual(
          taken.map(({ nonce, relayer }) => [relayer, nonce]),
          [
            [first, 3],
            [second, 70],
            [first, 4],
            [second, 71]
          ]
        )
        for (const number of [1, 3]) {
          yield* store.recordReceipt(
            { ...attempt, attempt: number },
            {
              actionHash: bytes32(7),
              txHash: bytes32(1),
              blockNumber: 12n,
              blockHash: bytes32(12),
              success: true,
              gasUsed: 1n,
              deltas: []
            },
            after(1)
          )
        }
        assert.deepStrictEqual(
          (yield* Effect.forEach([4, 5], take)).map(({ relayer }) => relayer),
          [second, second]
        )
      })
  )

  it.effect("keeps every replacement, answers the newest, and finds it by its nonce", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      assert.isTrue(Option.isNone(yield* store.sent(attempt)))
      const first = yield* reserve(attempt, relayer, 4)
      const stored = Option.getOrThrow(yield* store.sent(attempt))
      assert.deepStrictEqual(stored, {
        attempt,
        transaction: first,
        signedAt: noon,
        isRetrying: false,
        feeCeiling: null,
        isHeld: false
      })
      const second = yield* store.replace(stored, after(1), Effect.succeed(raised(first, 1)))
      assert.deepStrictEqual(second.replaces, [first.txHash])
      const newest = Option.getOrThrow(yield* store.sent(attempt))
      assert.deepStrictEqual(newest, {
        attempt,
        transaction: second,
        signedAt: after(1),
        isRetrying: false,
        feeCeiling: null,
        isHeld: false
      })
      const third = yield* store.replace(newest, after(2), Effect.succeed(raised(second, 2)))
      assert.deepStrictEqual(third.replaces, [first.txHash, second.txHash])
      const byNonce = Option.getOrThrow(yield* store.atNonce(base, relayer, 4))
      assert.deepStrictEqual(byNonce, {
        attempt,
        transaction: third,
        signedAt: after(2),
        isRetrying: false,
        feeCeiling: null,
        isHeld: false
      })
      assert.isTrue(Option.isNone(yield* store.atNonce(base, relayer, 5)))
      assert.deepStrictEqual(yield* reserve(attempt, relayer, 9), third)
    })
  )

  it.effect("tells of what was signed whether its operation waits as retrying", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const operations = yield* OperationStore
      const attempt = yield* newAttempt
      yield* reserve(attempt, newAddress())
      const isRetrying = Effect.map(store.sent(attempt), (sent) => Option.getOrThrow(sent).isRetrying)
      for (const to of ["running", "retrying", "running"] as const) {
        yield* operations.transition({ operationId: attempt.operationId, to, at: noon, error: null })
        assert.strictEqual(yield* isRetrying, to === "retrying", to)
      }
    })
  )

  it.effect("replaces a transaction once, however many ask for it", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const attempt = yield* newAttempt
      yield* reserve(attempt, newAddress())
      const stored = Option.getOrThrow(yield* store.sent(attempt))
      let signatures = 0
      const sign = Effect.sync(() => raised(stored.transaction, ++signatures))
      const answers = yield* Effect.replicateEffect(store.replace(stored, after(1), sign), 8, {
        concurrency: "unbounded"
      })
      assert.strictEqual(signatures, 1)
      for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
    })
  )

  it.effect("counts the gas of an attempt once, for its portfolio and its tenant, on the day of its receipt", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RelayStore
      const ledger = yield* GasLedger
      const [one, other] = [yield* newAttempt, yield* newAttempt]
      for (const [attempt, gasUsed] of [
        [one, 1_000n],
        [other, 20n]
      ] as const) {
        yield* reserve(attempt, newAddress())
        const receipt: ActionReceipt = {
          actionHash: bytes32(7),
          txHash: bytes32(1),
          blockNumber: 12n,
          blockHash: bytes32(12),
          success: gasUsed === 20n,
          gasUsed,
          deltas: []
        }
        yield* store.recordReceipt(attempt, receipt, noon)
        yield* store.recordReceipt(attempt, receipt, after(1))
      }
      for (const [attempt, gasUsed] of [
        [one, 1_000n],
        [other, 20n]
      ] as const) {
        const [row] = yield* sql<{ readonly tenantId: TenantId; readonly portfolioId: PortfolioId }>`
          SELECT tenant_id AS "tenantId", portfolio_id AS "portfolioId" FROM operations
          WHERE operation_id = ${attempt.operationId}`
        assert.deepStrictEqual(yield* ledger.spent(row!, noon), { portfolio: gasUsed, tenant: gasUsed, owner: 0n })
        assert.deepStrictEqual(yield* ledger.spent(row!, after(86_400_000)), { portfolio: 0n, tenant: 0n, owner: 0n })
        const askedAtOnce = yield* Effect.forEach([noon, after(86_400_000), noon], (at) => ledger.spent(row!, at), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          askedAtOnce.map(({ portfolio }) => portfolio),
          [gasUsed, 0n, gasUsed]
        )
      }
    })
  )

  it.effect("counts the gas of what owners signed apart from that of the agent", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RelayStore
      const ledger = yield* GasLedger
      const first = yield* newAttempt
      const [row] = yield* sql<{ readonly tenantId: TenantId; readonly portfolioId: PortfolioId }>`
        SELECT tenant_id AS "tenantId", portfolio_id AS "portfolioId" FROM operations
        WHERE operation_id = ${first.operationId}`
      for (const [kind, gasUsed] of [
        ["execute", 1_000n],
        ["withdraw", 30n],
        ["revoke", 4n],
        ["swap", 500n]
      ] as const) {
        const attempt = yield* newAttempt
        yield* sql`
          UPDATE operations SET kind = ${kind}, tenant_id = ${row!.tenantId}, portfolio_id = ${row!.portfolioId}
          WHERE operation_id = ${attempt.operationId}`
        yield* reserve(attempt, newAddress())
        const receipt: ActionReceipt = {
          actionHash: bytes32(7),
          txHash: bytes32(1),
          blockNumber: 12n,
          blockHash: bytes32(12),
          success: false,
          gasUsed,
          deltas: []
        }
        yield* store.recordReceipt(attempt, receipt, noon)
      }
      assert.deepStrictEqual(yield* ledger.spent(row!, noon), { portfolio: 1_500n, tenant: 1_500n, owner: 34n })
    })
  )

  it.effect("records receipts of signed attempts only, and none for a run that another process has by now", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RelayStore
      const attempt = yield* newAttempt
      const lostRun = { requestId: "1", executionId: "lost", generation: 1n }
      const receipt: ActionReceipt = {
        actionHash: bytes32(7),
        txHash: bytes32(1),
        blockNumber: 12n,
        blockHash: bytes32(12),
        success: false,
        gasUsed: 2n ** 80n,
        deltas: [{ assetId: usdc, raw: -(2n ** 100n) }]
      }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.recordReceipt(attempt, receipt, noon))))
      yield* reserve(attempt, newAddress())
      const late = { ...receipt, success: true }
      const lost = yield* Effect.exit(
        Effect.provideService(store.recordReceipt(attempt, late, after(2)), RunFence, lostRun)
      )
      assert.isTrue(Exit.isFailure(lost) && Cause.squash(lost.cause) instanceof RunMoved, String(lost))
      yield* store.recordReceipt(attempt, receipt, after(1))
      const [row] = yield* sql<{ status: string; receipt: { readonly deltas: unknown } }>`
        SELECT status, receipt FROM relayed_actions WHERE operation_id = ${attempt.operationId}`
      assert.strictEqual(row?.status, "reverted")
      assert.deepStrictEqual(row?.receipt.deltas, [{ assetId: usdc, raw: `-${2n ** 100n}` }])
    })
  )
})
