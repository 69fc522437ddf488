/** Transactions whose gas becomes dearer than they may cost, on a real chain: whatever lands, it happens once. */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { Hex } from "viem"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import { confirmed, EvmWorldLive, mine, stranger } from "#test/layers/evm/EvmWorld.ts"
import { feesOf, withFeesAbove, withoutMining } from "#test/layers/evm/relay/heldBack.ts"
import { newest, storedSwap, unblock } from "#test/layers/evm/relay/storedSwap.ts"
import { balances, changes, deltasOf, submit, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { TestStores } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const World = Layer.mergeAll(EvmWorldLive, TestStores)

/** The transaction is in the pool, nothing is mined, and the market asks more than it offers, by so many times. */
const dear = <A, E, R>(
  { base, signed }: Effect.Success<ReturnType<typeof storedSwap>>,
  meanwhile: (first: Effect.Success<ReturnType<typeof feesOf>>) => Effect.Effect<A, E, R>
) =>
  withoutMining(
    base,
    Effect.gen(function* () {
      yield* (yield* Relayer).broadcast(signed)
      const first = yield* feesOf(base, signed.txHash)
      return yield* withFeesAbove(base, first.maxFeePerGas, meanwhile(first))
    })
  )

/**
 * A node drops what no block takes, so the same bytes are sent again until it has them: not for a second after it took
 * them before. Nothing else is sent, and it is held no more.
 */
const sentAgain = Effect.fnUntraced(function* ({
  attempt,
  base,
  signed
}: Effect.Success<ReturnType<typeof storedSwap>>) {
  const relay = yield* Relayer
  yield* unblock(attempt).pipe(
    Effect.andThen(mine(base)),
    Effect.andThen(relay.usedNonces(signed.chainId, signed.relayer)),
    Effect.filterOrFail((next) => next > signed.nonce),
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.timeout(patience)
  )
  const { isHeld, transaction } = yield* newest(attempt)
  assert.deepStrictEqual([transaction.txHash, isHeld], [signed.txHash, false])
})

const kindsOf = ({ operationId }: AttemptId) =>
  Effect.flatMap(OperationStore, (operations) =>
    Effect.map(operations.events(operationId, 0, 100), (events) => events.map(({ kind }) => kind))
  )

describe("A transaction that the market asks too much for", () => {
  layer(World, { excludeTestServices: true })((it) => {
    it.effect("waits, says so once, offers nothing more, and is included when the market has fallen", () =>
      Effect.gen(function* () {
        const swap = yield* storedSwap(50n, 50n)
        const { attempt, prepared, signed } = swap
        yield* dear(swap, () =>
          Effect.gen(function* () {
            for (let round = 0; round < 3; round++) {
              const waiting = yield* unblock(attempt, Duration.zero, Duration.hours(1))
              assert.strictEqual(waiting.txHash, signed.txHash)
            }
            assert.isTrue((yield* newest(attempt)).isHeld)
          })
        )
        assert.deepStrictEqual(
          (yield* kindsOf(attempt)).filter((kind) => kind === "gas_waits"),
          ["gas_waits"]
        )
        yield* sentAgain(swap)
        const receipt = yield* confirmed(signed, prepared.accountId)
        assert.isTrue(receipt.success)
        assert.strictEqual(receipt.txHash, signed.txHash)
      })
    )

    it.effect("is replaced within its limit, and offers no more than that", () =>
      Effect.gen(function* () {
        const swap = yield* storedSwap(51n, 250n)
        const { attempt, base, prepared } = swap
        const replaced = yield* dear(swap, () => unblock(attempt))
        assert.isUndefined(replaced.cancels)
        yield* mine(base)
        const receipt = yield* confirmed(replaced, prepared.accountId)
        assert.isTrue(receipt.success)
        const { maxFeePerGas } = yield* feesOf(base, receipt.txHash)
        assert.isTrue(maxFeePerGas <= prepared.feeCeiling!)
      })
    )

    it.effect(
      "is taken back once when the market stays, by a transfer of nothing, and its operation is made anew",
      () =>
        Effect.gen(function* () {
          const actions = yield* ActionReceipts
          const swap = yield* storedSwap(52n, 50n)
          const { attempt, base, before, enrollment, prepared, signed } = swap
          const cancelling = yield* dear(swap, () =>
            Effect.gen(function* () {
              assert.strictEqual((yield* unblock(attempt, Duration.zero, Duration.hours(1))).txHash, signed.txHash)
              const taking = yield* unblock(attempt)
              assert.strictEqual(taking.cancels, signed.raw)
              assert.deepStrictEqual(taking.replaces, [signed.txHash])
              // Younger bytes are sent again as they are, and older ones whose fees are taken too.
              assert.strictEqual((yield* unblock(attempt, Duration.hours(1))).txHash, taking.txHash)
              const sent = yield* Effect.promise(() => base.client.getTransaction({ hash: taking.txHash as Hex }))
              assert.strictEqual(sent.to?.toLowerCase(), sent.from.toLowerCase())
              assert.strictEqual(sent.gas, 21_000n)
              assert.strictEqual(sent.value, 0n)
              // In all no more than the operation itself might have cost.
              assert.isTrue(sent.gas * sent.maxFeePerGas! <= prepared.gasLimit * prepared.feeCeiling!)
              yield* mine(base)
              return taking
            })
          )
          const receipt = yield* confirmed(cancelling, prepared.accountId)
          assert.deepInclude(receipt, {
            success: false,
            isTakenBack: true,
            isNotBegun: true,
            txHash: cancelling.txHash
          })
          assert.strictEqual(receipt.gasUsed, 21_000n)
          assert.deepStrictEqual(yield* actions.find(cancelling, prepared.accountId), Option.some(receipt))
          assert.strictEqual(changes(before, yield* balances(base, enrollment.account)).size, 0)
          // The same nonce of the account: of both operations the chain takes one, whoever submits the first after all.
          const again = yield* storedSwap(enrollment)
          yield* (yield* Relayer).broadcast(again.signed)
          const landed = yield* confirmed(again.signed, prepared.accountId)
          assert.isTrue(landed.success)
          const moved = changes(before, yield* balances(base, enrollment.account))
          assert.deepStrictEqual(deltasOf(landed), moved)
          const late = yield* Effect.exit(submit(base, stranger, { data: prepared.callData as Hex }))
          assert.isTrue(late._tag === "Failure" || late.value.status === "reverted")
          assert.deepStrictEqual(changes(before, yield* balances(base, enrollment.account)), moved)
        })
    )

    it.effect("that lands all the same, while it is taken back, is found as carried out", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const store = yield* RelayStore
        const { attempt, base, before, enrollment, prepared, signed } = yield* storedSwap(53n, 50n)
        const cancelling = yield* relay.quoteCancelling(signed, { feeCeiling: prepared.feeCeiling! })
        const taking = yield* store.replace(
          yield* newest(attempt),
          yield* DateTime.now,
          relay.signCancelling(signed, Option.getOrThrow(cancelling))
        )
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(taking, prepared.accountId)
        assert.isTrue(receipt.success)
        assert.strictEqual(receipt.txHash, signed.txHash)
        assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("is taken back at once where a withdrawal or another operation waits behind it, which then lands", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const other = yield* tradingAccount(55n)
        const swap = yield* storedSwap(54n, 50n)
        const { attempt, base, prepared } = swap
        const behind = yield* dear(swap, () =>
          Effect.gen(function* () {
            // What an owner signs has no limit of its own, and is prepared at the market's fees.
            const next = yield* storedSwap(other)
            assert.strictEqual(next.signed.nonce, swap.signed.nonce + 1)
            yield* relay.broadcast(next.signed)
            yield* unblock(next.attempt, Duration.zero, Duration.hours(1))
            yield* mine(base)
            return next
          })
        )
        assert.isTrue((yield* confirmed(behind.signed, behind.prepared.accountId)).success)
        const taken = yield* confirmed((yield* newest(attempt)).transaction, prepared.accountId)
        assert.isTrue(taken.isTakenBack)
      })
    )

    it.effect("is not taken back for more than it might have cost itself", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const swap = yield* storedSwap(56n, 50n)
        const { attempt, prepared, signed } = swap
        yield* dear(swap, ({ maxFeePerGas }) =>
          Effect.gen(function* () {
            // The market asks one and three quarters of it at least: a base fee falls by an eighth a block.
            const tooLittle = (3n * maxFeePerGas * 21_000n) / (2n * prepared.gasLimit)
            assert.isTrue(Option.isNone(yield* relay.quoteCancelling(signed, { feeCeiling: tooLittle })))
            const enough = (4n * maxFeePerGas * 21_000n) / prepared.gasLimit
            assert.isTrue(Option.isSome(yield* relay.quoteCancelling(signed, { feeCeiling: enough })))
            assert.strictEqual((yield* newest(attempt)).transaction.txHash, signed.txHash)
          })
        )
        yield* sentAgain(swap)
        assert.isTrue((yield* confirmed(signed, prepared.accountId)).success)
      })
    )
  })
})
