/** What became of a transaction of the relayer that includes a withdrawal, alone or at the end of a batch of sales. */
import { Effect, Option } from "effect"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"
import { isNonceUsed, lost } from "#layers/evm/execution/findReceipt.ts"
import { readDepth, confirmedReceiptOf } from "#layers/evm/execution/confirmedReceipt.ts"
import { landedIn, readStanding } from "#layers/evm/withdrawal/withdrawalStanding.ts"

/** What one endpoint shows. */
const observe = Effect.fnUntraced(function* (transaction: SignedTransaction, withdrawal: StoredWithdrawal) {
  const { actionHash, chainId, replaces, txHash } = transaction
  const depth = yield* readDepth(chainId)
  const { head, confirmed } = depth
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })

  // What is missing says nothing: that it is over follows from both nonces, of the relayer and of the authorization.
  const nonceUsed = yield* isNonceUsed(transaction, confirmed)
  const own = yield* confirmedReceiptOf(chainId, [txHash, ...replaces], confirmed)
  if (own === "pending") return shows(Option.none())
  const landed = own === null ? Option.none<ActionReceipt>() : landedIn(own, withdrawal, actionHash)
  if (Option.isSome(landed)) return shows(landed)

  const standing = yield* readStanding(withdrawal, depth)
  // Carried out since the receipt was read, or by another sender, and not confirmed: the answer may still change.
  if (standing === "Unconfirmed") return shows(Option.none())
  if (standing !== "Late" && standing._tag === "Landed") return shows(Option.some({ ...standing.receipt, actionHash }))
  // Reverted, overtaken, or too late whenever it is mined: by this transaction nothing moves.
  const isClosed = standing !== "Late" && standing._tag === "Closed"
  const isOver = own !== null || nonceUsed || isClosed
  return shows(isOver ? Option.some(lost(transaction, own)) : Option.none())
})

export const findWithdrawal = (transaction: SignedTransaction, withdrawal: StoredWithdrawal) =>
  agreed(transaction.chainId, observe(transaction, withdrawal))
