/** The relayer: an account whose key this process holds. It pays for transactions and owns nothing else. */
import { Effect, Layer } from "effect"
import { type Hex, keccak256 } from "viem"
import { Relayer } from "#domain/relay/Relayer.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { sendTransaction } from "#layers/evm/execution/sendTransaction.ts"
import { localAccount } from "#layers/evm/localAccount.ts"

export const RelayerLive = Layer.effect(
  Relayer,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { relayerKey } = yield* EvmConfig

    const sign = Effect.fn("Relayer.sign")(function* (prepared: PreparedTransaction, nonce: number) {
      const { callData, chainId, fromBlock, gasLimit, maxFeePerGas, maxPriorityFeePerGas, subject, to } = prepared
      const raw = yield* Effect.promise(() =>
        localAccount(relayerKey).signTransaction({
          type: "eip1559",
          chainId,
          nonce,
          to: toViem(to),
          data: callData as Hex,
          gas: gasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas
        })
      )
      const signed: SignedTransaction = { chainId, subject, nonce, txHash: keccak256(raw), raw, fromBlock }
      return signed
    })

    const broadcast = Effect.fn("Relayer.broadcast")(sendTransaction, Effect.provideService(EvmClients, clients))

    return Relayer.of({ address: fromViem(localAccount(relayerKey).address), sign, broadcast })
  })
)
