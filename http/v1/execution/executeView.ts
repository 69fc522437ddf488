/** Executions of calls as v1 sends them. */
import { DateTime } from "effect"
import type { CallTrace } from "#domain/order/CallTracer.ts"
import type { ExecutionStatus, SubmittedExecution } from "#domain/order/DirectExecutions.ts"
import { addressOf, type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import type { OperationState } from "#domain/operation/Operation.ts"

const statuses: Record<OperationState, "pending" | "processing" | "completed" | "failed"> = {
  accepted: "pending",
  running: "processing",
  retrying: "processing",
  awaiting_user: "processing",
  completed: "completed",
  failed: "failed",
  cancelled: "failed"
}

/** `<address>:<chainId>`. Source: interface "Identifier formats". */
const legacyAssetId = (assetId: AssetId): string => `${addressOf(assetId)}:${chainIdOf(assetId)}`

export const submittedView = ({ executionId, prepared }: SubmittedExecution, trace?: CallTrace) => ({
  executionId,
  status: "pending" as const,
  transaction: {
    hash: null,
    data: prepared.callData,
    from: addressOf(prepared.accountId),
    to: prepared.to,
    chainId: String(prepared.chainId)
  },
  ...(trace === undefined
    ? {}
    : {
        simulation: {
          success: true,
          gasEstimate: trace.gasUsed.toString(),
          trace: trace.calls.map(({ gasUsed, ...call }) => ({ ...call, gasUsed: gasUsed.toString() }))
        }
      })
})

const transactionStatus = {
  pending: "pending",
  processing: "pending",
  completed: "confirmed",
  failed: "failed"
} as const

export const statusView = ({ operation, outcome }: ExecutionStatus) => {
  const status = statuses[operation.state]
  const { finishedAt } = operation
  return {
    executionId: operation.operationId,
    status,
    transaction: {
      hash: outcome?.receipt.txHash ?? null,
      status: transactionStatus[status],
      blockNumber: outcome === null ? null : Number(outcome.receipt.blockNumber),
      timestamp: finishedAt === null ? null : Math.floor(DateTime.toEpochMillis(finishedAt) / 1000)
    },
    ...(outcome === null
      ? {}
      : {
          result: {
            success: outcome.receipt.success,
            gasUsed: outcome.receipt.gasUsed.toString(),
            events: outcome.receipt.deltas.map(({ assetId, raw }) => ({
              assetId: legacyAssetId(assetId),
              amountRaw: raw.toString()
            }))
          }
        }),
    ...(status === "failed"
      ? {
          error: {
            code: "EXECUTION_FAILED" as const,
            message: operation.error ?? "It was not carried out",
            details: []
          }
        }
      : {})
  }
}
