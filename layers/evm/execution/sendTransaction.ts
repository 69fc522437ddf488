/** Hands stored bytes of a transaction to the chain. Sending the same bytes again does no harm and is no error. */
import { Effect } from "effect"
import { type Hex, type PublicClient, TransactionReceiptNotFoundError } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { rpcErrorOf } from "#layers/evm/rpcFailure.ts"

/** Nodes have no common code for these two answers, only common words. */
const knownAlready = /already known|already imported|known transaction|already exists/iu
const nonceUsed = /nonce too low|nonce is too low|nonce has already been used/iu

const submit = async (client: PublicClient, raw: Hex): Promise<"sent" | "nonce used"> => {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw })
    return "sent"
  } catch (error) {
    const answer = rpcErrorOf(error)?.details ?? ""
    if (knownAlready.test(answer)) return "sent"
    if (nonceUsed.test(answer)) return "nonce used"
    throw error
  }
}

/** The receipt of a transaction; null while it has none. */
export const receiptOf = (client: PublicClient, hash: Hex) =>
  client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return null
    throw error
  })

export const sendTransaction = Effect.fnUntraced(function* (transaction: SignedTransaction) {
  const { chainId, nonce, raw, replaces, txHash } = transaction
  const { request } = yield* EvmClients
  const outcome = yield* request(chainId, "eth_sendRawTransaction", (client) => submit(client, raw as Hex))
  if (outcome === "sent") return
  for (const hash of [txHash, ...replaces]) {
    const receipt = yield* request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, hash as Hex))
    if (receipt !== null) return
  }
  return yield* new ChainUnavailable({
    chainId,
    reason: `nonce ${nonce} of the relayer is used, and not (yet) by transaction ${txHash}; prepare anew if that lasts`
  })
})
