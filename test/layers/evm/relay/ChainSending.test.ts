import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Hex } from "viem"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction, ActionReceipt } from "#domain/relay/Transaction.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { simulateAlone } from "#layers/evm/execution/batchedSimulations.ts"
import { type OperationToSimulate, simulateOperation } from "#layers/evm/execution/simulateOperation.ts"
import { advance } from "#sandbox/chain/Market.ts"
import {
  batchOf,
  configFor,
  enroll,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  quotedSwap,
  relayer,
  confirmed,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import {
  balances,
  changes,
  deltasOf,
  dollars,
  submit,
  tradingAccount,
  roundTrip
} from "#test/layers/evm/tradingAccount.ts"

describe("What became of a sent operation", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("sending twice does no harm, and a receipt is found again and again", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const actions = yield* ActionReceipts
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(5n)
        const before = yield* balances(base, enrollment.account)
        const { prepared, receipt, signed } = yield* execute(
          batchOf(enrollment, base, [
            yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
          ])
        )
        yield* relay.broadcast(signed)
        yield* relay.broadcast(signed)
        assert.deepStrictEqual(yield* actions.find(signed, prepared.accountId), Option.some(receipt))
        assert.deepStrictEqual(yield* roundTrip(ActionReceipt, receipt), receipt)
        assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("bytes that wait in the pool may be sent again and have no receipt yet", () =>
      Effect.gen(function* () {
        const { arbitrum } = yield* EvmWorld
        const execution = yield* SwapBatches
        const actions = yield* ActionReceipts
        const relay = yield* Relayer
        const enrollment = yield* enroll(6n, [[arbitrum, "USDC", "WETH"]])
        yield* fund(arbitrum, enrollment.account, { symbol: "USDC", raw: dollars(10n) })
        const prepared = asTransaction(
          yield* execution.prepare(
            batchOf(enrollment, arbitrum, [
              yield* quotedSwap(arbitrum, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
            ])
          )
        )
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* Effect.promise(() => arbitrum.client.setAutomine(false))
        yield* relay.broadcast(signed)
        yield* relay.broadcast(signed)
        assert.deepStrictEqual(yield* actions.find(signed, prepared.accountId), Option.none())
        yield* Effect.promise(() => arbitrum.client.setAutomine(true))
        yield* Effect.promise(() => arbitrum.client.mine({ blocks: 1 }))
        assert.isTrue((yield* confirmed(signed, prepared.accountId)).success)
      })
    )

    it.effect("adopts the receipt of whoever submitted the operation first", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(7n)
        const before = yield* balances(base, enrollment.account)
        const prepared = asTransaction(
          yield* execution.prepare(
            batchOf(enrollment, base, [
              yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
            ])
          )
        )
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        const taken = yield* submit(base, stranger, { data: prepared.callData as Hex })
        yield* Effect.promise(() => base.client.mine({ blocks: 3 }))
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(signed, prepared.accountId)
        assert.strictEqual(receipt.txHash, taken.transactionHash)
        assert.isTrue(receipt.success)
        assert.deepStrictEqual(deltasOf(receipt), changes(before, yield* balances(base, enrollment.account)))
      })
    )

    it.effect("reports that its nonce went to another transaction", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const actions = yield* ActionReceipts
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(8n)
        const prepared = asTransaction(
          yield* execution.prepare(
            batchOf(enrollment, base, [
              yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
            ])
          )
        )
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* submit(base, relayer, { data: "0x", nonce: prepared.chainNonce })
        const error = yield* Effect.flip(relay.broadcast(signed))
        assert.include(error.reason, `nonce ${prepared.chainNonce} of the relayer is used`)
        const lost = Option.getOrThrow(yield* actions.find(signed, prepared.accountId))
        assert.deepStrictEqual([lost.success, lost.txHash, lost.deltas], [false, signed.txHash, []])
      })
    )

    it.effect("an operation that comes after its deadline is included and moves nothing", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(11n)
        const prepared = asTransaction(
          yield* execution.prepare(
            batchOf(enrollment, base, [
              yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
            ])
          )
        )
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        const before = yield* balances(base, enrollment.account)
        yield* advance(base, 21 * 60 * 1_000)
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(signed, prepared.accountId)
        assert.isFalse(receipt.success)
        assert.deepStrictEqual(receipt.deltas, [])
        assert.deepStrictEqual(yield* balances(base, enrollment.account), before)
      })
    )

    it.effect("waits rather than fails when another operation was faster", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(18n)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
        ])
        const { prepared } = yield* execute(batch)
        const config = Layer.succeed(EvmConfig, configFor([base]))
        const operation: OperationToSimulate = {
          chainId: prepared.chainId,
          account: enrollment.account,
          relayer: relayer.address,
          handleOps: prepared.callData as Hex,
          notBefore: 0n,
          execute: "0x",
          swaps: batch.swaps,
          transactionGas: prepared.gasLimit,
          callGasLimit: 500_000n
        }
        const error = yield* simulateOperation(operation, simulateAlone).pipe(
          Effect.flip,
          Effect.provide(Layer.fresh(EvmClients.layer).pipe(Layer.provide(config)))
        )
        assert.strictEqual(error._tag, "ChainUnavailable")
        assert.include(error.message, "AA25")
      })
    )
  })
})
