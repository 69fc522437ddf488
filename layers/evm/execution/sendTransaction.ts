/**
 * Sends stored bytes of a transaction to every endpoint of the chain, as one of them may accept it and not pass it on.
 * Sending the same bytes again does no harm and is no error.
 */
import { Effect, Fiber } from "effect"
import { type Hex, type PublicClient, TransactionReceiptNotFoundError } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { FeesTooLow } from "#domain/relay/Relayer.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"

/** Nodes have no common code for these answers, only common texts. */
const knownAlready = /already ?known|already imported|known transaction|already exists/iu
const nonceUsed = /nonce too low|nonce is too low|nonce has already been used/iu
const tooCheap =
  /underpriced|less than block base fee|fee ?cap|fee too low|gas ?price too low|tip .*(?:below|minimum)/iu
const tooPoor = /insufficient (?:funds|balance)|doesn't have enough funds/iu

/** An endpoint's answer to the bytes; a failure when it gave none, or another one. */
type Outcome = "sent" | "nonce used" | "fees too low"

const submit = async (client: PublicClient, raw: Hex): Promise<Outcome> => {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw })
    return "sent"
  } catch (error) {
    const answer = rpcErrorOf(error)?.details ?? ""
    if (knownAlready.test(answer)) return "sent"
    if (nonceUsed.test(answer)) return "nonce used"
    // Some nodes name the fee cap in the refusal of an account that cannot pay it.
    if (tooCheap.test(answer) && !tooPoor.test(answer)) return "fees too low"
    throw error
  }
}

/** The receipt of a transaction; null while it has none. */
export const receiptOf = (client: PublicClient, hash: Hex) =>
  client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return null
    throw error
  })

/**
 * Sends the bytes: they are sent as soon as one endpoint has taken them. The requests to the others go on by
 * themselves, each for as long as a request may take.
 */
const submitToAll = Effect.fnUntraced(function* (chainId: ChainId, raw: Hex) {
  const { each } = yield* EvmClients
  const [first, ...others] = each(chainId).map(({ request }) =>
    request(chainId, "eth_sendRawTransaction", (client) => submit(client, raw))
  )
  if (first === undefined) return yield* new ChainUnavailable({ chainId, reason: "no RPC endpoint is configured" })
  if (others.length === 0) return yield* first
  const answers = (yield* Effect.forEach([first, ...others], (send) => Effect.forkDetach(send))).map((fiber) =>
    Fiber.join(fiber)
  )
  const taken = answers.map((answer) =>
    Effect.filterOrFail(
      answer,
      (outcome) => outcome === "sent",
      (outcome) => new ChainUnavailable({ chainId, reason: `the answer is "${outcome}"` })
    )
  )
  return yield* Effect.catch(Effect.raceAll(taken), () => Effect.raceAll(answers))
})

export const sendTransaction = Effect.fnUntraced(function* (transaction: SignedTransaction) {
  const { chainId, nonce, raw, replaces, txHash } = transaction
  const { request } = yield* EvmClients
  const outcome = yield* submitToAll(chainId, raw as Hex)
  if (outcome === "sent") return
  if (outcome === "fees too low") {
    return yield* new FeesTooLow({ chainId, reason: `nonce ${nonce} of the relayer, transaction ${txHash}` })
  }
  for (const hash of [txHash, ...replaces]) {
    const receipt = yield* request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, hash as Hex))
    if (receipt !== null) return
  }
  return yield* new ChainUnavailable({
    chainId,
    reason: `nonce ${nonce} of the relayer is used, and not (yet) by transaction ${txHash}; prepare anew if that lasts`
  })
})
