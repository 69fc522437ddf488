/**
 * User operations of several accounts in one transaction, on a real chain: each happens once, whatever becomes of the
 * others.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option } from "effect"
import { type Hex, parseGwei } from "viem"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type RelayedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import { asTransaction, type PreparedTransaction, type SignedTransaction } from "#domain/relay/Transaction.ts"
import { BundleSigner } from "#domain/relay/BundleSigner.ts"
import { replaceStuckTransaction } from "#domain/relay/replaceStuckTransaction.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { transactionGasCap } from "#layers/evm/execution/gasLimits.ts"
import {
  batchOf,
  chainIdOf,
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  quotedSwap,
  confirmed,
  stranger,
  mine
} from "#test/layers/evm/EvmWorld.ts"
import { feesOf, withFeesAbove, withoutMining } from "#test/layers/evm/relay/heldBack.ts"
import { balances, changes, deltasOf, dollars, submit, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { submit as submitOperation, world } from "#test/layers/sql/fixtures.ts"
import { TestStores } from "#test/support/database.ts"

const World = BundleSigner.layer.pipe(Layer.provideMerge(Layer.mergeAll(EvmWorldLive, TestStores)))

/** A swap of ten dollars that the chain says would succeed, as the first attempt of a new operation. */
const preparedSwap = Effect.fnUntraced(function* (enrollment: Enrollment) {
  const { base } = yield* EvmWorld
  const execution = yield* SwapBatches
  const swap = yield* quotedSwap(
    base,
    { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) },
    { toleranceBps: 100n }
  )
  const prepared = asTransaction(yield* execution.prepare(batchOf(enrollment, base, [swap])))
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submitOperation(tenantId, portfolioId)
  const action: RelayedAction = { attempt: { operationId, chainId: chainIdOf(base), attempt: 1 }, prepared }
  return { action, before: yield* balances(base, enrollment.account), enrollment }
})

type Swapping = Effect.Success<ReturnType<typeof preparedSwap>>

const swappingAccounts = Effect.fnUntraced(function* (...indices: ReadonlyArray<bigint>) {
  const enrollments = yield* Effect.forEach(indices, tradingAccount)
  return yield* Effect.forEach(enrollments, preparedSwap)
})

const newest = ({ action }: Swapping) =>
  Effect.flatMap(RelayStore, (store) => Effect.map(store.sent(action.attempt), Option.getOrThrow)).pipe(
    Effect.map(({ transaction }) => transaction)
  )

/** Signs all of them at the same moment; answers what each of them has stored then. */
const signTogether = Effect.fnUntraced(function* (swappings: ReadonlyArray<Swapping>) {
  const signer = yield* BundleSigner
  yield* Effect.forEach(swappings, ({ action }) => signer.sign(action), { concurrency: "unbounded" })
  return yield* Effect.forEach(swappings, newest)
})

const hashesOf = (signed: ReadonlyArray<SignedTransaction>) => [...new Set(signed.map(({ txHash }) => txHash))]

/** The receipt says what the account's balances say. */
const landed = Effect.fnUntraced(function* (swapping: Swapping, transaction: SignedTransaction) {
  const { base } = yield* EvmWorld
  const receipt = yield* confirmed(transaction, swapping.action.prepared.accountId)
  assert.isTrue(receipt.success)
  const moved = changes(swapping.before, yield* balances(base, swapping.enrollment.account))
  assert.strictEqual(moved.size, 2)
  assert.deepStrictEqual(deltasOf(receipt), moved)
  return receipt
})

const again = ({ action, ...rest }: Swapping): Swapping => {
  const { bundleGas: _bundleGas, ...prepared } = action.prepared
  return { ...rest, action: { attempt: { ...action.attempt, attempt: 2 }, prepared } }
}

describe("User operations of several accounts", () => {
  layer(World, { excludeTestServices: true })((it) => {
    it.effect("land in one transaction, and each receipt covers its own account alone", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const relay = yield* Relayer
        const swappings = yield* swappingAccounts(80n, 81n, 82n)
        const signed = yield* signTogether(swappings)
        assert.strictEqual(hashesOf(signed).length, 1)
        assert.deepStrictEqual(
          signed.map(({ actionHash, actionCount }) => [actionCount, actionHash]),
          swappings.map(({ action }) => [3, action.prepared.actionHash])
        )
        for (const transaction of signed) yield* relay.broadcast(transaction)
        const receipts = yield* Effect.forEach(swappings, (swapping, index) => landed(swapping, signed[index]!))
        const whole = yield* Effect.promise(() => base.client.getTransactionReceipt({ hash: signed[0]!.txHash as Hex }))
        const shares = receipts.map(({ gasUsed }) => gasUsed)
        const sum = shares.reduce((total, share) => total + share, 0n)
        assert.isTrue(sum <= whole.gasUsed && sum > whole.gasUsed - 3n)
        for (const share of shares) assert.isTrue(share * 5n > whole.gasUsed && share * 2n < whole.gasUsed)
      })
    )

    it.effect("lose one that the chain would refuse, and the others land in one transaction", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const relay = yield* Relayer
        const swappings = yield* swappingAccounts(83n, 84n, 85n)
        const [first, taken, last] = swappings as [Swapping, Swapping, Swapping]
        // Somebody else submits the second one before it is signed here.
        const including = yield* submit(base, stranger, { data: taken.action.prepared.callData as Hex })
        const { bundle } = yield* UserOperations
        const { kept } = yield* bundle([first.action.prepared, taken.action.prepared, last.action.prepared])
        assert.deepStrictEqual(kept, [0, 2])
        const signed = yield* signTogether(swappings)
        assert.strictEqual(signed[0]!.txHash, signed[2]!.txHash)
        assert.notStrictEqual(signed[0]!.txHash, signed[1]!.txHash)
        assert.deepStrictEqual(
          signed.map(({ actionCount = 1 }) => actionCount),
          [2, 1, 2]
        )
        for (const transaction of signed.slice(0, 2)) yield* relay.broadcast(transaction)
        yield* landed(first, signed[0]!)
        yield* landed(last, signed[2]!)
        assert.strictEqual((yield* landed(taken, signed[1]!)).txHash, including.transactionHash)
      })
    )

    it.effect("that are all refused are signed each alone, and found where somebody else included them", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const relay = yield* Relayer
        const swappings = yield* swappingAccounts(86n, 87n)
        for (const { action } of swappings) yield* submit(base, stranger, { data: action.prepared.callData as Hex })
        const signed = yield* signTogether(swappings)
        assert.strictEqual(hashesOf(signed).length, 2)
        for (const [index, swapping] of swappings.entries()) {
          yield* relay.broadcast(signed[index]!)
          yield* landed(swapping, signed[index]!)
        }
      })
    )

    it.effect("come to nothing when one of them is submitted by somebody else first, and land alone after that", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const relay = yield* Relayer
        const swappings = yield* swappingAccounts(88n, 89n, 90n)
        const [first, taken, last] = swappings as [Swapping, Swapping, Swapping]
        const signed = yield* signTogether(swappings)
        assert.strictEqual(hashesOf(signed).length, 1)
        yield* withoutMining(
          base,
          Effect.gen(function* () {
            yield* relay.broadcast(signed[0]!)
            yield* Effect.promise(() =>
              base.client.sendTransaction({
                account: stranger,
                to: entryPoint,
                data: taken.action.prepared.callData as Hex,
                gas: 5_000_000n,
                maxFeePerGas: parseGwei("500"),
                maxPriorityFeePerGas: parseGwei("400")
              })
            )
            yield* mine(base)
          })
        )
        const stolen = yield* landed(taken, signed[1]!)
        assert.notStrictEqual(stolen.txHash, signed[1]!.txHash)
        for (const [index, swapping] of [first, last].entries()) {
          const receipt = yield* confirmed(signed[index * 2]!, swapping.action.prepared.accountId)
          assert.deepInclude(receipt, { success: false, isBundleReverted: true, deltas: [], txHash: signed[0]!.txHash })
          assert.strictEqual(changes(swapping.before, yield* balances(base, swapping.enrollment.account)).size, 0)
        }
        const seconds = [again(first), again(last)]
        const anew = yield* signTogether(seconds)
        assert.strictEqual(hashesOf(anew).length, 2, "an operation of a reverted bundle shares no transaction again")
        for (const [index, swapping] of seconds.entries()) {
          yield* relay.broadcast(anew[index]!)
          yield* landed(swapping, anew[index]!)
        }
      })
    )

    it.effect("are replaced as one when their fees would not be taken any more", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const relay = yield* Relayer
        const store = yield* RelayStore
        const swappings = yield* swappingAccounts(91n, 92n)
        const signed = yield* signTogether(swappings)
        yield* withoutMining(
          base,
          Effect.gen(function* () {
            yield* relay.broadcast(signed[0]!)
            const { maxFeePerGas } = yield* feesOf(base, signed[0]!.txHash)
            const replace = replaceStuckTransaction(
              { operations: yield* OperationStore, store, relayer: relay, holdFor: Duration.zero },
              signed[1]!,
              Duration.zero
            )
            yield* withFeesAbove(base, maxFeePerGas, replace)
          })
        )
        yield* mine(base)
        const replaced = yield* Effect.forEach(swappings, newest)
        assert.strictEqual(hashesOf(replaced).length, 1)
        assert.deepStrictEqual(replaced[0]!.replaces, [signed[0]!.txHash])
        assert.strictEqual(replaced[0]!.nonce, signed[0]!.nonce)
        for (const [index, swapping] of swappings.entries()) {
          const receipt = yield* landed(swapping, replaced[index]!)
          assert.strictEqual(receipt.txHash, replaced[0]!.txHash)
        }
      })
    )

    it.effect(
      "that were stored when the process died are sent as they are by the next one, and signed no second time",
      () =>
        Effect.gen(function* () {
          const relay = yield* Relayer
          const [first, second, other] = (yield* swappingAccounts(93n, 94n, 95n)) as [Swapping, Swapping, Swapping]
          const signed = yield* signTogether([first, second])
          // The next process knows nothing but the store. It asks for a signature first, one by one or in any company.
          const successor = Layer.fresh(BundleSigner.layer)
          const after = yield* signTogether([second, other, first]).pipe(Effect.provide(successor))
          assert.deepStrictEqual([after[2], after[0]], signed)
          for (const [index, swapping] of [second, other, first].entries()) {
            yield* relay.broadcast(after[index]!)
            yield* landed(swapping, after[index]!)
          }
        })
    )

    it.effect("may use a quarter of a block together, never more than a transaction may", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const [swapping] = yield* swappingAccounts(96n)
        const { gasLimit } = yield* Effect.promise(() => base.client.getBlock())
        const { bundleGas } = swapping!.action.prepared
        assert.strictEqual(bundleGas, gasLimit / 4n < transactionGasCap ? gasLimit / 4n : transactionGasCap)
        const { bundle } = yield* UserOperations
        const prepared: PreparedTransaction = swapping!.action.prepared
        const single = yield* bundle([prepared])
        assert.deepStrictEqual(single, { transaction: prepared, kept: [0] })
      })
    )
  })
})
