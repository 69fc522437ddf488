/** What an account received in a transaction, by the Transfer events of its receipt. */
import { Effect, Layer, Option } from "effect"
import type { Hex } from "viem"
import { chainIdOf, type EvmAccountId } from "#domain/Caip.ts"
import { Arrivals } from "#domain/transfer/Arrivals.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { netTransfers } from "#layers/evm/execution/findReceipt.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"

export const ArrivalsLive = Layer.effect(
  Arrivals,
  Effect.gen(function* () {
    const { request } = yield* EvmClients

    const read = Effect.fn("Arrivals.read")(function* (accountId: EvmAccountId, txHash: string) {
      const receipt = yield* request(chainIdOf(accountId), "eth_getTransactionReceipt", (client) =>
        receiptOf(client, txHash as Hex)
      )
      if (receipt === null) return Option.none()
      return Option.some({
        success: receipt.status === "success",
        blockNumber: receipt.blockNumber,
        deltas: netTransfers(receipt, accountId)
      })
    })

    return Arrivals.of({ read })
  })
)
