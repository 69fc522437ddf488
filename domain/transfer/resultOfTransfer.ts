/** What a transfer between chains did, as the operation that watched it reports; pure. */
import { chainIdOf } from "#domain/values/Caip.ts"
import {
  emptyChain,
  type OperationOutcome,
  type OperationReport,
  ownTransfer,
  operationResult,
  type TransactionResult
} from "#domain/operation/OperationResult.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { TransferEnd } from "#domain/transfer/Transfer.ts"

const outcomes: Record<TransferEnd["state"], OperationOutcome> = {
  delivered: "traded",
  partial: "partly_traded",
  refunded: "skipped",
  failed: "skipped"
}

/** Others paid for it, or the run that sent it, whose result has the cost. */
const transaction = (txHash: string, success: boolean): TransactionResult => ({
  txHash,
  userOpHash: null,
  success,
  gasUsed: null,
  gasUsd: null
})

type Sent = Pick<OutgoingTransfer, "sell" | "buy" | "amountRaw" | "minRaw" | "tool"> & { readonly txHash: string }

export const resultOfTransfer = (sent: Sent, { reason, received, state }: TransferEnd): OperationReport => {
  const hasArrived = received !== null && received.assetId === sent.buy
  const source = {
    ...emptyChain(chainIdOf(sent.sell)),
    transfers:
      state === "failed" ? [] : [ownTransfer(sent, hasArrived ? received.raw : state === "partial" ? null : 0n)],
    transactions: [transaction(sent.txHash, state !== "failed")],
    failure: reason
  }
  // What came back arrived on the chain that it left.
  const back = received !== null && chainIdOf(received.assetId) === source.chainId
  if (received === null) return { outcome: outcomes[state], result: operationResult([source], null) }
  const arrival = transaction(received.txHash, true)
  const chains = back
    ? [{ ...source, transactions: [...source.transactions, arrival] }]
    : [source, { ...emptyChain(chainIdOf(received.assetId)), transactions: [arrival] }]
  return { outcome: outcomes[state], result: operationResult(chains, null) }
}
