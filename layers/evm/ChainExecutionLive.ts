/** Swaps as user operations that the service's own relayer submits to the EntryPoint. */
import { Effect, Layer } from "effect"
import { type Hex, keccak256 } from "viem"
import type { EvmAccountId } from "#domain/Caip.ts"
import {
  ChainExecution,
  type PreparedBatch,
  type SignedTransaction,
  type SwapBatch
} from "#domain/rebalance/ChainExecution.ts"
import { fromViem } from "#layers/evm/address.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"
import { prepareBatch } from "#layers/evm/execution/prepareBatch.ts"
import { sendTransaction } from "#layers/evm/execution/sendTransaction.ts"
import { localAccount } from "#layers/evm/localAccount.ts"

export const ChainExecutionLive = Layer.effect(
  ChainExecution,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { agentKey, relayerKey } = yield* EvmConfig
    const relayer = localAccount(relayerKey).address
    const operators = { agent: localAccount(agentKey).address, agentKey, relayer }

    const prepare = Effect.fn("ChainExecution.prepare")(
      (batch: SwapBatch) => prepareBatch(batch, operators),
      Effect.provideService(EvmClients, clients)
    )

    const sign = Effect.fn("ChainExecution.sign")(function* (prepared: PreparedBatch, nonce: number) {
      const { callData, chainId, fromBlock, gasLimit, maxFeePerGas, maxPriorityFeePerGas, userOpHash } = prepared
      const raw = yield* Effect.promise(() =>
        localAccount(relayerKey).signTransaction({
          type: "eip1559",
          chainId,
          nonce,
          to: entryPoint,
          data: callData as Hex,
          gas: gasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas
        })
      )
      const signed: SignedTransaction = { chainId, userOpHash, nonce, txHash: keccak256(raw), raw, fromBlock }
      return signed
    })

    const broadcast = Effect.fn("ChainExecution.broadcast")(sendTransaction, Effect.provideService(EvmClients, clients))

    const find = Effect.fn("ChainExecution.find")(
      (transaction: SignedTransaction, accountId: EvmAccountId) => findReceipt(transaction, accountId, relayer),
      Effect.provideService(EvmClients, clients)
    )

    return ChainExecution.of({ prepare, sign, broadcast, find, relayer: fromViem(relayer) })
  })
)
