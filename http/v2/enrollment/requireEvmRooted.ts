/**
 * Enrollments of this deployment are rooted in an EVM wallet. Chains of two namespaces, and chains that nobody
 * supports, are told first; then a tenant that may not use Solana is told so; then that Solana is not there. Source:
 * interface "enroll/signature", rules 3 and 4, and "Authentication" 5.
 */
import { Effect } from "effect"
import { type EvmWalletId, solanaChainId } from "#domain/Caip.ts"
import { requireSupported } from "#domain/chain/Chains.ts"
import { PermissionDenied, ValidationFailed } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"

const entitlement = "svm_b2b_api"

const isEvm = (owner: string): owner is EvmWalletId => owner.startsWith("eip155:")

const mixed = new ValidationFailed({
  message: "One enrollment is in one namespace; enroll on EVM chains and on Solana separately",
  details: [`chainIds: expected EVM chain ids only, or ${solanaChainId} alone`]
})

export const requireEvmRooted = Effect.fnUntraced(function* (request: {
  readonly ownerAccountId: string
  readonly chainIds: ReadonlyArray<number>
}) {
  const { ownerAccountId, chainIds } = request
  const onSolana = chainIds.includes(solanaChainId)
  if (onSolana && chainIds.length > 1) return yield* mixed
  if (!onSolana) yield* requireSupported(chainIds)
  const { entitlements } = yield* Caller
  if ((!isEvm(ownerAccountId) || onSolana) && !entitlements.has(entitlement)) {
    return yield* new PermissionDenied({
      message: `Solana enrollment needs the tenant entitlement ${entitlement}; ask support for it`
    })
  }
  yield* requireSupported(chainIds)
  if (!isEvm(ownerAccountId)) {
    return yield* new ValidationFailed({
      message: "Solana owners are not supported by this deployment",
      details: ["ownerAccountId: expected a wallet of the form eip155:0:<address>"]
    })
  }
  return ownerAccountId
})
