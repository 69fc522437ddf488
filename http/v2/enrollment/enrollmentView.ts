/** Views of both stages of an enrollment in v2. Source: shapes 2.15 and 2.16. */
import type { Enrolled, EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import type { EnrollRequest } from "#domain/enrollment/EnrollRequest.ts"
import type { AgentPolicy, Authorization } from "#domain/account/Authorization.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import type { EnrollBody } from "#http/v2/enrollment/EnrollmentModel.ts"
import { labelsView } from "#http/values/labels.ts"
import { smartAccountView } from "#http/portfolio/portfolioView.ts"

const policyView = ({ _tag: _, ...policy }: AgentPolicy) => policy

/** What the message is computed from; undefined of an authorization from before its parts were kept. */
const partsView = ({ chains, root, withdrawalDomainName }: Authorization) => {
  const parts = chains.flatMap(({ enableNonce, permissionHash, policy, ...chain }) =>
    enableNonce === undefined || permissionHash === undefined || policy._tag === "Solana"
      ? []
      : [{ ...chain, policy: policyView(policy), enableNonce, permissionHash }]
  )
  return parts.length < chains.length ? undefined : { withdrawalDomainName, root, chains: parts }
}

/** What the owner sends, by the fields that are there; the contract has required those of the owner's model. */
export const consentIn = ({
  currentSlot,
  signature = "",
  signedSolanaTransaction,
  userSecp256k1PublicKey
}: EnrollBody): EnrollRequest["consent"] => {
  if (signedSolanaTransaction !== undefined) return { _tag: "SignedTransaction", transaction: signedSolanaTransaction }
  return currentSlot === undefined || userSecp256k1PublicKey === undefined
    ? { _tag: "Signature", signature }
    : { _tag: "SlotSignature", signature, userSecp256k1PublicKey, currentSlot: BigInt(currentSlot) }
}

const subAccountView = ({ authorization: { chains }, subAccount }: EnrollmentFlow) => {
  const [{ accountId, policy }] = chains
  if (subAccount === undefined || policy._tag !== "Solana") return {}
  const { isReused, odometer, transaction, walletAccountId } = subAccount
  return {
    walletAccountId,
    depositAccountId: accountId,
    walletRoleId: policy.roleId,
    reusedWallet: isReused,
    ...(transaction === null ? {} : { solanaTransaction: transaction }),
    ...(odometer === null ? {} : { odometer })
  }
}

/** The answer of stage 1. */
export const signatureView = (flow: EnrollmentFlow) => {
  const { authorization, flowId, subAccount } = flow
  const parts = partsView(authorization)
  return {
    message: subAccount?.message ?? ownerMessage(authorization),
    agentAccountId: authorization.agentAccountId,
    accountIndex: authorization.accountIndex.toString(),
    accountType: authorization.accountType,
    flowId,
    ...(parts === undefined ? {} : { authorization: parts }),
    ...subAccountView(flow)
  }
}

/** The answer of stage 2. */
export const enrolledView = (enrolled: Enrolled) => ({
  portfolioId: enrolled.portfolioId,
  portfolioName: enrolled.portfolioName,
  strategyId: enrolled.strategyId,
  smartAccounts: enrolled.smartAccounts.map((accountId) => smartAccountView(accountId, enrolled.walletRoleId)),
  ...labelsView(enrolled)
})
