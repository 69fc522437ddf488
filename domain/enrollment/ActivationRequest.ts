/**
 * The body of an activation's stage 2, its canonical bytes for idempotency, and its check against stage 1. Source:
 * shapes A.
 */
import { formExpected } from "#domain/account/OwnerMessage.ts"
import type { ChainId, WalletId } from "#domain/values/Caip.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import type { FlowId, PortfolioId } from "#domain/values/Ids.ts"

export interface ActivationRequest {
  readonly portfolioId: PortfolioId
  readonly flowId: FlowId
  readonly chainIds: ReadonlyArray<ChainId>
  readonly accountIndex: string
  readonly agentAccountId: WalletId
  /** Hex: 65 bytes of a key, or what a contract accepts as a signature. */
  readonly signature: string
}

/** Bytes that are equal exactly when two requests mean the same. */
export const activationRequestBytes = (request: ActivationRequest): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify([
      request.flowId,
      request.portfolioId,
      request.chainIds,
      request.accountIndex,
      request.agentAccountId,
      request.signature.toLowerCase()
    ])
  )

/**
 * Fields that did not come back as stage 1 issued them, each as `field: reason`. `active` are the portfolio's chains:
 * stage 1 leaves them out of what is signed, so they may be among the chains that come back.
 */
export const activationMismatches = (
  request: ActivationRequest,
  flow: EnrollmentFlow,
  active: ReadonlySet<ChainId>
): ReadonlyArray<string> => {
  const { authorization } = flow
  const issued = authorization.chains.map(({ chainId }) => chainId)
  const sent = request.chainIds.filter((chainId) => issued.includes(chainId) || !active.has(chainId))
  const checks: ReadonlyArray<readonly [field: string, same: boolean]> = [
    ["chainIds", sent.length === issued.length && issued.every((chainId, index) => chainId === sent[index])],
    ["accountIndex", request.accountIndex === authorization.accountIndex.toString()],
    ["agentAccountId", request.agentAccountId === authorization.agentAccountId]
  ]
  const differences = checks.flatMap(([field, same]) => (same ? [] : [`${field}: differs from stage 1`]))
  const expected = formExpected(authorization.accountType, request.signature)
  return expected === undefined ? differences : [...differences, `signature: Expected ${expected}`]
}
