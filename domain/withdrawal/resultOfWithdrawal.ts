/** What a withdrawal did; pure. Of a liquidation what was sold stands beside what the recipient got. */
import type { ChainId, HeldAssetId } from "#domain/values/Caip.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import {
  emptyChain,
  type OperationReport,
  operationResult,
  type TransactionResult,
  type TransferResult
} from "#domain/operation/OperationResult.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"

export interface WithdrawalFacts {
  readonly message: WithdrawalMessage
  readonly chainId: ChainId
  readonly transactions: ReadonlyArray<TransactionResult>
  /** What changed in the account. */
  readonly deltas: ActionReceipt["deltas"]
  /** What reached the recipient. */
  readonly delivered: ReadonlyArray<{ readonly assetId: HeldAssetId; readonly raw: bigint }>
  /** Why nothing moved; null when it was carried out. */
  readonly failure: string | null
}

const transfersOf = ({ chainId, delivered, deltas, message }: WithdrawalFacts): ReadonlyArray<TransferResult> => {
  const arrived = (assetId: HeldAssetId) => delivered.find((one) => one.assetId === assetId)?.raw ?? 0n
  const settlement = usdcOn(chainId)
  return message.assets.map(({ amountRaw, assetId }) => {
    const requested = BigInt(amountRaw)
    const left = -(deltas.find((delta) => delta.assetId === assetId)?.raw ?? -requested)
    const isSold = message.liquidate === true && settlement !== undefined && assetId !== settlement
    return {
      sell: assetId,
      buy: isSold ? settlement : assetId,
      sentRaw: left,
      minOutRaw: isSold ? 0n : requested,
      // All that was sold arrived as one amount of the settlement asset: of one asset it is known whole.
      receivedRaw: isSold && message.assets.length > 1 ? null : arrived(isSold ? settlement : assetId),
      recipient: message.recipientAccountId,
      by: null
    }
  })
}

export const resultOfWithdrawal = (facts: WithdrawalFacts): OperationReport => {
  const { chainId, failure, message, transactions } = facts
  const isDone = failure === null
  const chain = { ...emptyChain(chainId), transfers: isDone ? transfersOf(facts) : [], transactions, failure }
  // Selling for the owner has prices of its own, which no plan uses.
  const tradingUsd = isDone && message.liquidate === true ? null : 0n
  return { outcome: isDone ? "traded" : "skipped", result: operationResult([chain], tradingUsd) }
}
