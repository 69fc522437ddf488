/** The body of stage 2, its canonical bytes for idempotency, and its check against stage 1. Source: shapes 2.16. */
import type { WalletId, ChainId } from "#domain/values/Caip.ts"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { SolanaConsent } from "#domain/account/SolanaWallets.ts"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import type { Labels } from "#domain/values/Labels.ts"
import type { FlowId, StrategyId } from "#domain/values/Ids.ts"

export interface EnrollRequest extends Labels {
  readonly flowId: FlowId
  readonly ownerAccountId: WalletId
  readonly strategyId: StrategyId
  readonly chainIds: ReadonlyArray<ChainId>
  readonly accountType: AccountType
  readonly accountIndex: string
  readonly agentAccountId: WalletId
  /** Consent. EVM owners send a signature in hex: 65 bytes of a key, or what a contract accepts as one. */
  readonly consent: { readonly _tag: "Signature"; readonly signature: string } | SolanaConsent
  readonly portfolioName: string | null
}

/** Nothing without labels; the order in which pairs were sent does not count. */
const labelBytes = ({ externalId, metadata = {} }: Labels): ReadonlyArray<unknown> => {
  const pairs = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1))
  return externalId === undefined && pairs.length === 0 ? [] : [{ externalId, pairs }]
}

const consentBytes = (consent: EnrollRequest["consent"]): string | ReadonlyArray<string> => {
  switch (consent._tag) {
    case "Signature":
      return consent.signature.toLowerCase()
    case "SignedTransaction":
      return [consent.transaction]
    case "SlotSignature":
      return [
        consent.signature.toLowerCase(),
        consent.userSecp256k1PublicKey.toLowerCase(),
        consent.currentSlot.toString()
      ]
  }
}

/** Bytes that are equal exactly when two requests mean the same. */
export const enrollRequestBytes = (request: EnrollRequest): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify([
      request.flowId,
      request.ownerAccountId,
      request.strategyId,
      request.chainIds,
      request.accountIndex,
      request.agentAccountId,
      consentBytes(request.consent),
      request.portfolioName,
      // The default adds nothing: a body has the bytes that it had before there was a choice.
      ...(request.accountType === "ECDSA" ? [] : [request.accountType]),
      ...labelBytes(request)
    ])
  )

/** Fields that did not come back as stage 1 issued them, each as `field: reason`. */
export const enrollMismatches = (request: EnrollRequest, flow: EnrollmentFlow): ReadonlyArray<string> => {
  const { authorization } = flow
  const issued = authorization.chains.map(({ chainId }) => chainId)
  const checks: ReadonlyArray<readonly [field: string, same: boolean]> = [
    ["ownerAccountId", request.ownerAccountId === authorization.ownerAccountId],
    ["strategyId", request.strategyId === flow.strategyId],
    [
      "chainIds",
      request.chainIds.length === issued.length && issued.every((id, index) => id === request.chainIds[index])
    ],
    ["accountType", request.accountType === authorization.accountType],
    ["accountIndex", request.accountIndex === authorization.accountIndex.toString()],
    ["agentAccountId", request.agentAccountId === authorization.agentAccountId]
  ]
  return checks.flatMap(([field, same]) => (same ? [] : [`${field}: differs from stage 1`]))
}
