/** What an account received in a transaction, by the Transfer events of its receipt. */
import { Effect, Layer, Option } from "effect"
import { type Hex, zeroAddress } from "viem"
import { chainIdOf, type AccountId } from "#domain/Caip.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { type Arrival, TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { spanIsAbout } from "#domain/spanAttributes.ts"
import { fromViem } from "#layers/evm/address.ts"
import { agreed } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"
import { actsIn, netTransfers } from "#layers/evm/execution/operationOutcome.ts"
import { readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"

/** Above every nonce that an account reaches. */
const noNonce = Number.MAX_SAFE_INTEGER

type Found = Arrival & Pick<ActionReceipt, "txHash" | "blockHash">

/** What one endpoint shows of a transaction that counts. */
const observe = Effect.fnUntraced(function* (accountId: AccountId, txHash: Hex) {
  const chainId = chainIdOf(accountId)
  const { head, confirmed } = yield* readDepth(chainId)
  const receipt = yield* confirmedReceipt(chainId, txHash, confirmed)
  if (receipt === null || receipt === "pending") return { head, confirmed, receipt: Option.none<Found>() }
  const found: Found = {
    txHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    success: receipt.status === "success",
    isOwn: actsIn(receipt, accountId),
    deltas: netTransfers(receipt, accountId)
  }
  return { head, confirmed, receipt: Option.some(found) }
})

export const TransferReceiptsLive = Layer.effect(
  TransferReceipts,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const read = Effect.fn("TransferReceipts.read")(
      (accountId: AccountId, txHash: string) => {
        const chainId = chainIdOf(accountId)
        return Effect.andThen(spanIsAbout({ chainId, txHash }), agreed(chainId, observe(accountId, txHash as Hex)))
      },
      Effect.provideService(EvmClients, clients)
    )

    const carriedAt = Effect.fn("TransferReceipts.carriedAt")(
      function* (accountId: AccountId, actionHash: string, fromBlock: bigint) {
        // By any sender: the search is not for a transaction or a nonce of our own.
        const unknown: SignedTransaction = {
          chainId: chainIdOf(accountId),
          actionHash,
          fromBlock,
          relayer: fromViem(zeroAddress),
          txHash: actionHash,
          replaces: [],
          raw: "0x",
          nonce: noNonce
        }
        const receipt = yield* findReceipt(unknown, accountId)
        return Option.filter(receipt, ({ success }) => success)
      },
      Effect.provideService(EvmClients, clients)
    )

    return TransferReceipts.of({ read, carriedAt })
  })
)
