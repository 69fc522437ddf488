/** Replacements and reorganizations on a real chain: whatever lands, the action happens once. */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { Hex } from "viem"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { TestStores } from "#test/support/database.ts"
import {
  chainIdOf,
  confirmed,
  EvmWorld,
  EvmWorldLive,
  mine,
  patientAdapter,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { feesOf, withFeesAbove, withoutMining } from "#test/layers/evm/relay/heldBack.ts"
import { newest, storedSwap, unblock } from "#test/layers/evm/relay/storedSwap.ts"
import { balances, changes, deltasOf, submit, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"

const World = Layer.mergeAll(EvmWorldLive, TestStores)

/** Takes the newest blocks off the chain and mines others in their place, without what was in them. */
const reorganize = ({ client }: Chain, depth: number) =>
  client.request<{ Parameters: readonly [number, []]; ReturnType: unknown }>({
    method: "anvil_reorg",
    params: [depth, []]
  })

/** Bytes that an endpoint took are sent again after a second at the earliest, long before a run does so. */
const unsentForAMoment = Effect.sleep("1100 millis")

describe("A transaction that does not land", () => {
  layer(World, { excludeTestServices: true })((it) => {
    it.effect("is replaced with the same nonce, and the chain acts once on the newest", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const { attempt, base, before, enrollment, prepared, signed } = yield* storedSwap(40n)
        const replaced = yield* withoutMining(
          base,
          Effect.gen(function* () {
            yield* relay.broadcast(signed)
            const first = yield* feesOf(base, signed.txHash)
            return yield* withFeesAbove(
              base,
              first.maxFeePerGas,
              Effect.gen(function* () {
                assert.strictEqual((yield* unblock(attempt, Duration.hours(1))).txHash, signed.txHash)
                const second = yield* unblock(attempt)
                const raised = yield* feesOf(base, second.txHash)
                assert.strictEqual(raised.nonce, first.nonce)
                for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const)
                  assert.isTrue(raised[field] * 1_000n >= first[field] * 1_125n)
                return yield* unblock(attempt)
              })
            )
          })
        )
        yield* mine(base)
        const receipt = yield* confirmed(replaced, prepared.accountId)
        assert.strictEqual(receipt.txHash, replaced.txHash)
        assert.isTrue(receipt.success)
        assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("is sent again as it is while its fees would be taken, however long it waits", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const { attempt, base, prepared, signed } = yield* storedSwap(48n)
        yield* withoutMining(
          base,
          Effect.gen(function* () {
            yield* relay.broadcast(signed)
            yield* Effect.promise(() => base.client.dropTransaction({ hash: signed.txHash as Hex }))
            yield* unsentForAMoment
            assert.strictEqual((yield* unblock(attempt)).txHash, signed.txHash)
          })
        )
        yield* mine(base)
        assert.isTrue((yield* confirmed(signed, prepared.accountId)).success)
      })
    )

    it.effect("of an account that cannot pay is not replaced, and lands at its own fees once there are funds", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const { attempt, base, prepared, signed } = yield* storedSwap(49n)
        const address = signed.relayer as Hex
        const balance = yield* Effect.promise(() => base.client.getBalance({ address }))
        const setBalance = (value: bigint) => Effect.promise(() => base.client.setBalance({ address, value }))
        yield* Effect.acquireUseRelease(
          setBalance(4_096n),
          () =>
            Effect.gen(function* () {
              for (let round = 0; round < 3; round++) {
                const error = yield* Effect.flip(unblock(attempt))
                assert.strictEqual(error._tag, "ChainUnavailable")
                assert.match(error.message, /insufficient funds/iu)
              }
              assert.strictEqual((yield* newest(attempt)).transaction.txHash, signed.txHash)
            }),
          () => setBalance(balance)
        )
        yield* relay.broadcast(signed)
        assert.isTrue((yield* confirmed(signed, prepared.accountId)).success)
      })
    )

    it.effect("is found when an earlier one of its transactions was the one that landed", () =>
      Effect.gen(function* () {
        const actions = yield* ActionReceipts
        const relay = yield* Relayer
        const { attempt, base, before, enrollment, prepared, signed } = yield* storedSwap(41n)
        const store = yield* RelayStore
        const bump = yield* relay.quoteFeeBump(signed, { isRefused: true, feeCeiling: null })
        if (bump._tag !== "Bump") return assert.fail(bump._tag)
        const second = yield* store.replace(
          yield* newest(attempt),
          yield* DateTime.now,
          relay.signReplacement(signed, bump.fees)
        )
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(second, prepared.accountId)
        assert.strictEqual(receipt.txHash, signed.txHash)
        yield* relay.broadcast(second)
        assert.deepStrictEqual(yield* actions.find(second, prepared.accountId), Option.some(receipt))
        assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("of a run that is gone does not block the one behind it", () =>
      Effect.gen(function* () {
        const other = yield* tradingAccount(43n)
        const { attempt, base, prepared, signed: abandoned } = yield* storedSwap(42n)
        // Somebody else included the operation before ours was ever sent, so nobody waits for ours any more.
        const taken = yield* submit(base, stranger, { data: prepared.callData as Hex })
        assert.strictEqual((yield* confirmed(abandoned, prepared.accountId)).txHash, taken.transactionHash)
        const behind = yield* storedSwap(other)
        assert.strictEqual(behind.signed.nonce, abandoned.nonce + 1)
        const relay = yield* Relayer
        yield* relay.broadcast(behind.signed)
        assert.strictEqual(yield* relay.usedNonces(chainIdOf(base), relay.address), abandoned.nonce)
        yield* unblock(behind.attempt, Duration.hours(1))
        assert.isTrue((yield* confirmed(behind.signed, behind.prepared.accountId)).success)
        assert.strictEqual((yield* newest(attempt)).transaction.txHash, abandoned.txHash)
      })
    )

    it.effect("is not replaced above the gas ceiling", () =>
      Effect.gen(function* () {
        const relay = yield* Relayer
        const { prepared, signed } = yield* storedSwap(44n)
        const dear = yield* relay.sign({ ...prepared, maxFeePerGas: 480_000_000_000n }, signed.nonce)
        assert.deepStrictEqual(yield* relay.quoteFeeBump(dear, { isRefused: true, feeCeiling: null }), {
          _tag: "AboveCeiling"
        })
        yield* relay.broadcast(signed)
        yield* confirmed(signed, prepared.accountId)
      })
    )
  })
})

describe("A reorganization", () => {
  layer(World, { excludeTestServices: true })((it) => {
    it.effect("takes the receipt away, and the same bytes land again, once", () =>
      Effect.gen(function* () {
        const actions = yield* ActionReceipts
        const relay = yield* Relayer
        const { base, before, enrollment, prepared, signed } = yield* storedSwap(45n)
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(signed, prepared.accountId)
        const block = yield* Effect.promise(() => base.client.getBlock({ blockNumber: receipt.blockNumber }))
        assert.strictEqual(receipt.blockHash, block.hash)
        yield* Effect.promise(() => reorganize(base, 1))
        assert.deepStrictEqual(yield* actions.find(signed, prepared.accountId), Option.none())
        assert.strictEqual(changes(before, yield* balances(base, enrollment.account)).size, 0)
        yield* unsentForAMoment
        yield* relay.broadcast(signed)
        yield* mine(base)
        const again = yield* confirmed(signed, prepared.accountId)
        assert.isTrue(again.success)
        assert.notStrictEqual(again.blockHash, receipt.blockHash)
        assert.deepStrictEqual(deltasOf(again), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("before the last confirmation is a longer wait and nothing else", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const patient = patientAdapter(base, 3)
        const { before, enrollment, prepared, signed } = yield* storedSwap(46n)
        const relay = yield* Relayer
        yield* relay.broadcast(signed)
        yield* confirmed(signed, prepared.accountId)
        yield* Effect.gen(function* () {
          const { find } = yield* ActionReceipts
          const found = find(signed, prepared.accountId)
          assert.deepStrictEqual(yield* found, Option.none())
          yield* mine(base)
          assert.deepStrictEqual(yield* found, Option.none())
          yield* Effect.promise(() => reorganize(base, 2))
          assert.deepStrictEqual(yield* found, Option.none())
          yield* unsentForAMoment
          yield* relay.broadcast(signed)
          yield* mine(base)
          yield* mine(base)
          yield* mine(base)
          const receipt = Option.getOrThrow(yield* found)
          assert.isTrue(receipt.success)
          assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
        }).pipe(Effect.provide(patient))
      })
    )
  })
})
