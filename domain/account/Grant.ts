/**
 * What an owner signed and thereby put into effect. A portfolio has one grant from its enrollment and one more for each
 * later activation of chains; on a chain the latest that names it counts.
 */
import { Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { Authorization, type ChainAuthorization, type PermissionId } from "#domain/account/Authorization.ts"

export const Grant = Schema.Struct({
  authorization: Authorization,
  /** The owner's signature over the authorization's root. */
  ownerSignature: Schema.String
})
export type Grant = typeof Grant.Type

/**
 * The grant that counts on a chain; undefined when the owner never authorized anything there. Grants are oldest first.
 */
export const grantOn = (grants: ReadonlyArray<Grant>, chainId: ChainId): Grant | undefined =>
  grants.findLast(({ authorization }) => authorization.chains.some((chain) => chain.chainId === chainId))

/** Ids of permissions that earlier grants named on a chain: the agent's key may use them until they are removed. */
export const replacedPermissions = (grants: ReadonlyArray<Grant>, chainId: ChainId): ReadonlyArray<PermissionId> =>
  grants
    .flatMap(({ authorization }) => authorization.chains.filter((chain) => chain.chainId === chainId))
    .slice(0, -1)
    .map(({ permissionId }) => permissionId)

/** What counts on each authorized chain. */
export const authorizedChains = (grants: ReadonlyArray<Grant>): ReadonlyArray<ChainAuthorization> => [
  ...new Map(
    grants.flatMap(({ authorization }) => authorization.chains.map((chain) => [chain.chainId, chain] as const))
  ).values()
]
