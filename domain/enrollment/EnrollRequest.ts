/** The body of stage 2, its canonical bytes for idempotency, and its check against stage 1. Source: shapes 2.16. */
import type { EvmWalletId } from "#domain/Caip.ts"
import { chainIdOf } from "#domain/Caip.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import type { FlowId, StrategyId } from "#domain/Ids.ts"

export interface EnrollRequest {
  readonly flowId: FlowId
  readonly ownerAccountId: EvmWalletId
  readonly strategyId: StrategyId
  readonly chainIds: ReadonlyArray<number>
  readonly accountIndex: string
  readonly agentAccountId: EvmWalletId
  /** 65 bytes in hex. */
  readonly signature: string
  readonly portfolioName: string | null
}

/** Bytes that are equal exactly when two requests mean the same. */
export const requestBytes = (request: EnrollRequest): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify([
      request.flowId,
      request.ownerAccountId,
      request.strategyId,
      request.chainIds,
      request.accountIndex,
      request.agentAccountId,
      request.signature.toLowerCase(),
      request.portfolioName
    ])
  )

/** Fields that did not come back as stage 1 issued them, each as `field: reason`. */
export const mismatchesOf = (request: EnrollRequest, flow: EnrollmentFlow): ReadonlyArray<string> => {
  const { authorization } = flow
  const issued = authorization.chains.map(({ accountId }) => chainIdOf(accountId))
  const checks: ReadonlyArray<readonly [field: string, same: boolean]> = [
    ["ownerAccountId", request.ownerAccountId === authorization.ownerAccountId],
    ["strategyId", request.strategyId === flow.strategyId],
    [
      "chainIds",
      request.chainIds.length === issued.length && issued.every((id, index) => id === request.chainIds[index])
    ],
    ["accountIndex", request.accountIndex === authorization.accountIndex.toString()],
    ["agentAccountId", request.agentAccountId === authorization.agentAccountId]
  ]
  return checks.flatMap(([field, same]) => (same ? [] : [`${field}: differs from stage 1`]))
}
