/** An operation as v2 shows it. Source: shapes 2.20 and 2.21. */
import { DateTime } from "effect"
import type { Operation, ReportedOperation } from "#domain/operation/Operation.ts"
import { operationResultView } from "#http/operation/operationResultView.ts"

/** What a route that starts work answers. */
export const submittedView = ({ operationId, submittedAt }: Operation) => ({
  operationId,
  submittedAt: DateTime.formatIso(submittedAt)
})

/** Writes an operation without its end, as streams send it. */
export const operationView = (operation: Operation) => ({
  operationId: operation.operationId,
  portfolioId: operation.portfolioId,
  kind: operation.kind,
  state: operation.state,
  submittedAt: DateTime.formatIso(operation.submittedAt),
  createdAt: DateTime.formatIso(operation.submittedAt),
  updatedAt: DateTime.formatIso(operation.updatedAt),
  finishedAt: operation.finishedAt === null ? null : DateTime.formatIso(operation.finishedAt),
  error: operation.error
})

export const operationItemView = (operation: Operation) => ({
  ...operationView(operation),
  trigger: operation.trigger,
  ...(operation.firedBy == null ? {} : { firedBy: operation.firedBy }),
  outcome: operation.outcome,
  reason: operation.reason
})

export const operationDetailView = ({ result, ...operation }: ReportedOperation) => ({
  ...operationItemView(operation),
  result: result === null ? null : operationResultView(result)
})
