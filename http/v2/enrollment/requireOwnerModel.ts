/**
 * Which owners enroll where: an EVM wallet on EVM chains or on Solana, a Solana key on Solana. Chains of two
 * namespaces, and chains that are not supported, are refused first; then a tenant that may not use Solana; then all
 * where Solana is not there. Source: interface "enroll/signature", rules 3 and 4, and "Authentication" 5.
 */
import { Effect } from "effect"
import { namespaceOf, solanaChainId, type WalletId, type ChainId } from "#domain/values/Caip.ts"
import { requireSupported } from "#domain/chain/Chains.ts"
import { PermissionDenied, ValidationFailed } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"

const entitlement = "svm_b2b_api"

const mixed = new ValidationFailed({
  message: "One enrollment is in one namespace; enroll on EVM chains and on Solana separately",
  details: [`chainIds: expected EVM chain ids only, or ${solanaChainId} alone`]
})

export const requireOwnerModel = Effect.fnUntraced(function* (request: {
  readonly ownerAccountId: WalletId
  readonly chainIds: ReadonlyArray<ChainId>
}) {
  const { ownerAccountId, chainIds } = request
  const isSolanaOwner = namespaceOf(ownerAccountId) === "solana"
  const onSolana = chainIds.includes(solanaChainId)
  if (onSolana && chainIds.length > 1) return yield* mixed
  if (!onSolana) yield* requireSupported(chainIds)
  const { entitlements } = yield* Caller
  if ((isSolanaOwner || onSolana) && !entitlements.has(entitlement)) {
    return yield* new PermissionDenied({
      message: `Solana enrollment needs the tenant entitlement ${entitlement}; ask support for it`
    })
  }
  yield* requireSupported(chainIds)
  if (isSolanaOwner && !onSolana) {
    return yield* new ValidationFailed({
      message: "An owner with a Solana key enrolls on Solana alone",
      details: [
        `ownerAccountId: expected a wallet of the form eip155:0:<address> on EVM chains, or chainIds [${solanaChainId}]`
      ]
    })
  }
})
