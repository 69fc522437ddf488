/**
 * What became of a user operation. A signed operation is public, so any account may have submitted it: the EntryPoint's
 * event with its hash decides, not the fate of our own transaction. The end of our own one counts only where the
 * account's nonce shows that there is no such event. Source: ERC-4337 (UserOperationEvent).
 */
import { Effect, Option } from "effect"
import { isAddressEqual, type TransactionReceipt } from "viem"
import type { AccountId } from "#domain/values/Caip.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { type OperationEvent, operationEvents, rangeFrom } from "#layers/evm/execution/operationEvents.ts"
import { operationNonceIn, readOperationNonces } from "#layers/evm/account/operationNonce.ts"
import { gasPriceOf, outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readDepth, confirmedReceipt, confirmedReceiptOf } from "#layers/evm/execution/confirmedReceipt.ts"

/**
 * A transfer of the relayer to itself used the nonce. Where no receipt of ours is shown it may be another one, and
 * nothing came of what it cancels all the same.
 */
const isTakenBack = ({ cancels }: SignedTransaction, receipt: TransactionReceipt | null): boolean =>
  cancels !== undefined && (receipt === null || receipt.to === null || isAddressEqual(receipt.to, receipt.from))

/** Why nothing came of it. Of several that a transaction included the others may be to blame. */
const whyLost = (
  transaction: SignedTransaction,
  receipt: TransactionReceipt | null
): Pick<ActionReceipt, "isBundleReverted" | "isNotBegun" | "isTakenBack"> => {
  if (isTakenBack(transaction, receipt)) return { isNotBegun: true, isTakenBack: true }
  return (transaction.actionCount ?? 1) > 1 ? { isBundleReverted: true } : { isNotBegun: true }
}

/**
 * The relayer's transaction is out of the race: it was reverted, taken back, or another one used its nonce. Nothing
 * moved by it.
 */
export const lost = (transaction: SignedTransaction, receipt: TransactionReceipt | null): ActionReceipt => {
  const { actionHash, actionCount = 1, txHash } = transaction
  return {
    actionHash,
    txHash: receipt?.transactionHash ?? txHash,
    blockNumber: receipt?.blockNumber ?? 0n,
    blockHash: receipt?.blockHash ?? null,
    success: false,
    ...whyLost(transaction, receipt),
    gasUsed: (receipt?.gasUsed ?? 0n) / BigInt(actionCount),
    ...(receipt === null ? {} : gasPriceOf(receipt, { part: 1n, of: BigInt(actionCount) })),
    deltas: []
  }
}

/** Whether a confirmed block has seen the transaction's nonce used, by whatever transaction. */
export const isNonceUsed = Effect.fnUntraced(function* (transaction: SignedTransaction, confirmed: bigint) {
  const { request } = yield* EvmClients
  const used = yield* request(transaction.chainId, "eth_getTransactionCount", (client) =>
    client.getTransactionCount({ address: toViem(transaction.relayer), blockNumber: confirmed })
  )
  return used > transaction.nonce
})

/**
 * What one endpoint shows. That nothing will come of the transaction is a conclusion from state alone: the relayer's
 * nonce is used at a block that counts, and up to the head the account's nonce is still the operation's own. Where that
 * is used, the event that used it is sought until the endpoint shows it; a receipt or log that is missing says nothing.
 */
const observe = Effect.fnUntraced(function* (transaction: SignedTransaction, accountId: AccountId) {
  const { actionHash, chainId, fromBlock, replaces, txHash } = transaction
  const { head, confirmed } = yield* readDepth(chainId)
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })

  const own = yield* confirmedReceiptOf(chainId, [txHash, ...replaces], confirmed)
  if (own === "pending") return shows(Option.none())
  const ownOutcome = own === null ? Option.none<ActionReceipt>() : outcomeIn(own, actionHash, accountId)
  if (Option.isSome(ownOutcome)) return shows(ownOutcome)

  const nonce = operationNonceIn(transaction, accountId)
  const isIncluded = nonce === undefined || (yield* readOperationNonces(chainId, [{ accountId, nonce }], head))[0]
  if (isIncluded === false) {
    const isOver = own !== null || (yield* isNonceUsed(transaction, confirmed))
    return shows(isOver ? Option.some(lost(transaction, own)) : Option.none())
  }

  const isSought = ({ args }: OperationEvent) => args.userOpHash === actionHash || args.nonce === nonce
  const events = yield* operationEvents(chainId, toViem(addressOf(accountId)), {
    range: rangeFrom(fromBlock, head),
    isEnough: (found) => found.some(isSought)
  })
  const event = events.find(isSought)
  const including = event && (yield* confirmedReceipt(chainId, event.transactionHash, confirmed))
  if (event === undefined || including == null || including === "pending") return shows(Option.none())
  const included = outcomeIn(including, actionHash, accountId)
  // Another operation has used the account's nonce: this one never can.
  const isOvertaken = Option.isNone(included) && event.args.userOpHash !== actionHash
  return shows(isOvertaken ? Option.some(lost(transaction, own)) : included)
})

export const findReceipt = (transaction: SignedTransaction, accountId: AccountId) =>
  agreed(transaction.chainId, observe(transaction, accountId))
