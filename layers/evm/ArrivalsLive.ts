/** What an account received in a transaction, by the Transfer events of its receipt. */
import { Effect, Layer, Option } from "effect"
import { type Hex, zeroAddress } from "viem"
import { chainIdOf, type EvmAccountId } from "#domain/Caip.ts"
import { Arrivals } from "#domain/transfer/Arrivals.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { findReceipt, netTransfers } from "#layers/evm/execution/findReceipt.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"

/** Above every nonce that an account reaches. */
const noNonce = Number.MAX_SAFE_INTEGER

export const ArrivalsLive = Layer.effect(
  Arrivals,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { request } = clients

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

    const carriedAt = Effect.fn("Arrivals.carriedAt")(
      function* (accountId: EvmAccountId, subject: string, fromBlock: bigint) {
        // Whoever carried it: no transaction and no nonce of our own is looked for.
        const unknown = {
          chainId: chainIdOf(accountId),
          subject,
          fromBlock,
          txHash: subject,
          raw: "0x",
          nonce: noNonce
        }
        const receipt = yield* findReceipt(unknown, accountId, zeroAddress)
        return Option.filter(receipt, ({ success }) => success)
      },
      Effect.provideService(EvmClients, clients)
    )

    return Arrivals.of({ read, carriedAt })
  })
)
