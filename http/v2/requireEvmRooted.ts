/**
 * Enrollments of this deployment are rooted in an EVM wallet. A tenant that may not use Solana is told so before it is
 * told that Solana is not there. Source: interface "enroll/signature", rules 3 and 4, and "Authentication" 5.
 */
import { Effect } from "effect"
import { type EvmWalletId, solanaChainId } from "#domain/Caip.ts"
import { PermissionDenied, ValidationFailed } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"

const entitlement = "svm_b2b_api"

const isEvm = (owner: string): owner is EvmWalletId => owner.startsWith("eip155:")

export const requireEvmRooted = Effect.fnUntraced(function* (request: {
  readonly ownerAccountId: string
  readonly chainIds: ReadonlyArray<number>
}) {
  const { ownerAccountId, chainIds } = request
  const { entitlements } = yield* Caller
  if ((!isEvm(ownerAccountId) || chainIds.includes(solanaChainId)) && !entitlements.has(entitlement)) {
    return yield* new PermissionDenied({
      message: `Solana enrollment needs the tenant entitlement ${entitlement}; ask support for it`
    })
  }
  if (!isEvm(ownerAccountId)) {
    return yield* new ValidationFailed({
      message: "Solana owners are not supported by this deployment",
      details: ["ownerAccountId: expected a wallet of the form eip155:0:<address>"]
    })
  }
  return ownerAccountId
})
