/** Whether what an owner signed is what the account would check now. */
import type { Hex } from "viem"
import type { Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import { permissionData } from "#layers/evm/account/agentPermission.ts"
import { enableDigest } from "#layers/evm/account/enableMessage.ts"
import { addressOf, toViem, evmPolicy } from "#layers/evm/address.ts"

/** True when the authorization's digest is that of the account's `Enable` message at the nonce. */
export const isSignedAt = (
  { agentAccountId, withdrawalDomainName }: Pick<Authorization, "agentAccountId" | "withdrawalDomainName">,
  chain: ChainAuthorization,
  nonce: number
): boolean => {
  const { accountId, chainId, digest, permissionId } = chain
  const account = addressOf(accountId)
  const permission = permissionData({
    policy: evmPolicy(chain),
    account,
    agent: toViem(addressOf(agentAccountId)),
    settles: withdrawalDomainName !== null
  })
  return enableDigest({ chainId, account, permissionId: permissionId as Hex, permission, nonce }) === digest
}
