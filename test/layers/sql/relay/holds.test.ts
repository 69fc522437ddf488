/** What is stored of a transaction that waits for cheaper gas. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type EvmAddress, evmAccount } from "#domain/values/Caip.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, base, newAddress, noon, submit, world } from "#test/layers/sql/fixtures.ts"

const bytes32 = (value: number) => `0x${value.toString(16).padStart(64, "0")}`

const prepared = (): PreparedTransaction => ({
  _tag: "Evm",
  chainId: base,
  accountId: evmAccount(base, newAddress()),
  actionHash: bytes32(7),
  to: newAddress(),
  callData: "0x",
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  chainNonce: 0,
  laneNonces: [],
  fromBlock: 1n
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

const reserve = (attempt: AttemptId, batch: PreparedTransaction, relayer: EvmAddress) =>
  Effect.flatMap(RelayStore, (store) =>
    store.reserve([{ attempt, prepared: batch }], {
      accounts: [relayer],
      at: noon,
      sign: (nonce) =>
        Effect.succeed({
          chainId: base,
          actionHash: batch.actionHash,
          relayer,
          nonce,
          txHash: bytes32(nonce + 1),
          raw: `0x02${nonce.toString(16).padStart(8, "0")}`,
          fromBlock: batch.fromBlock,
          replaces: []
        })
    })
  )

eachDatabase("holds of transactions", (it) => {
  it.effect("keeps what a transaction may offer at most, since when it is held, and what takes it back", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relayer = newAddress()
      const attempt = yield* newAttempt
      const batch = { ...prepared(), feeCeiling: 2n ** 70n, costCeiling: 2n ** 71n }
      yield* reserve(attempt, batch, relayer)
      const stored = Effect.map(store.sent(attempt), Option.getOrThrow)
      const first = yield* stored
      assert.strictEqual(first.feeCeiling, 2n ** 70n)
      assert.isFalse(first.isHeld)
      assert.deepStrictEqual(yield* store.operationsIn(first.transaction), [attempt.operationId])
      const hold = (at: number) => store.hold(first.transaction, after(at))
      assert.deepStrictEqual(yield* hold(1), { since: after(1), isFollowed: false })
      assert.isTrue((yield* stored).isHeld)
      yield* reserve(yield* newAttempt, prepared(), relayer)
      assert.deepStrictEqual(yield* hold(2), { since: after(1), isFollowed: true })
      yield* store.release(first.transaction)
      assert.isFalse((yield* stored).isHeld)
      assert.strictEqual((yield* hold(3)).since.epochMilliseconds, after(3).epochMilliseconds)
      const bumped = yield* store.replace(first, after(4), Effect.succeed(raised(first.transaction, 1)))
      const cancelling: SignedTransaction = { ...raised(bumped, 2), cancels: bumped.raw }
      yield* store.replace(yield* stored, after(5), Effect.succeed(cancelling))
      assert.deepStrictEqual((yield* stored).transaction, cancelling)
      const dearer: SignedTransaction = { ...raised(cancelling, 3), cancels: bumped.raw }
      yield* store.replace(yield* stored, after(6), Effect.succeed(dearer))
      assert.deepStrictEqual((yield* stored).transaction, dearer)
    })
  )
})
