/**
 * What became of a user operation. A signed operation is public, so any account may have submitted it: the EntryPoint's
 * event with its hash decides, not the fate of our own transaction. Only without such an event does the end of our own
 * one count. Source: ERC-4337 (UserOperationEvent).
 */
import { Effect, Option } from "effect"
import type { Hex, TransactionReceipt } from "viem"
import type { AccountId, ChainId } from "#domain/Caip.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { toViem } from "#layers/evm/address.ts"
import { operationEvents, rangesFrom } from "#layers/evm/execution/operationEvents.ts"
import { gasPriceOf, outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readDepth, confirmedReceipt, confirmedReceiptOf } from "#layers/evm/execution/confirmedReceipt.ts"

/** The hash of the transaction that carried the operation, sought forward from a block within the bounds above. */
const findCarrier = Effect.fnUntraced(function* (
  chainId: ChainId,
  userOpHash: Hex,
  { fromBlock, head }: { readonly fromBlock: bigint; readonly head: bigint }
) {
  for (const range of rangesFrom(fromBlock, head)) {
    const [log] = yield* operationEvents(chainId, { userOpHash }, range)
    if (log !== undefined) return log.transactionHash
  }
  return undefined
})

/**
 * The relayer's transaction is out of the race: it was reverted, or another one used its nonce. Nothing moved by it.
 * When it carried several, the others may be to blame.
 */
export const lost = (
  { actionHash, carries = 1, txHash }: SignedTransaction,
  receipt: TransactionReceipt | null
): ActionReceipt => ({
  actionHash,
  txHash: receipt?.transactionHash ?? txHash,
  blockNumber: receipt?.blockNumber ?? 0n,
  blockHash: receipt?.blockHash ?? null,
  success: false,
  ...(carries > 1 ? { isBundleReverted: true } : {}),
  gasUsed: (receipt?.gasUsed ?? 0n) / BigInt(carries),
  ...(receipt === null ? {} : gasPriceOf(receipt)),
  deltas: []
})

/** Whether a confirmed block has seen the transaction's nonce used, by whatever transaction. */
export const isNonceUsed = Effect.fnUntraced(function* (transaction: SignedTransaction, confirmed: bigint) {
  const { request } = yield* EvmClients
  const used = yield* request(transaction.chainId, "eth_getTransactionCount", (client) =>
    client.getTransactionCount({ address: toViem(transaction.relayer), blockNumber: confirmed })
  )
  return used > transaction.nonce
})

/** What one endpoint shows. */
const observe = Effect.fnUntraced(function* (transaction: SignedTransaction, accountId: AccountId) {
  const { actionHash, chainId, fromBlock, replaces, txHash } = transaction
  const { head, confirmed } = yield* readDepth(chainId)
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })

  // The nonce first: when it was used before the receipt was read, a missing receipt is an answer.
  const nonceUsed = yield* isNonceUsed(transaction, confirmed)
  const own = yield* confirmedReceiptOf(chainId, [txHash, ...replaces], confirmed)
  if (own === "pending") return shows(Option.none())
  const ownOutcome = own === null ? Option.none<ActionReceipt>() : outcomeIn(own, actionHash, accountId)
  if (Option.isSome(ownOutcome)) return shows(ownOutcome)

  const carrier = yield* findCarrier(chainId, actionHash as Hex, { fromBlock, head })
  const carried = carrier === undefined ? null : yield* confirmedReceipt(chainId, carrier, confirmed)
  if (carried === "pending") return shows(Option.none())
  if (carried !== null) return shows(outcomeIn(carried, actionHash, accountId))
  return shows(own !== null || nonceUsed ? Option.some(lost(transaction, own)) : Option.none())
})

export const findReceipt = (transaction: SignedTransaction, accountId: AccountId) =>
  agreed(transaction.chainId, observe(transaction, accountId))
