/** Both stages of an enrollment as v2 shows them. Source: shapes 2.15 and 2.16. */
import type { Enrolled, EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { type Authorization, isSolanaRole } from "#domain/account/Authorization.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import { labelsView } from "#http/v2/values/labels.ts"
import { smartAccountView } from "#http/v2/portfolio/portfolioView.ts"

/** What the message is computed from; undefined of an authorization from before its parts were kept. */
const partsView = ({ chains, root, withdrawalDomainName }: Authorization) => {
  const parts = chains.flatMap(({ enableNonce, permissionHash, policy, ...chain }) =>
    enableNonce === undefined || permissionHash === undefined || isSolanaRole(policy)
      ? []
      : [{ ...chain, policy, enableNonce, permissionHash }]
  )
  return parts.length < chains.length ? undefined : { withdrawalDomainName, root, chains: parts }
}

/** The answer of stage 1. */
export const signatureView = ({ authorization, flowId }: EnrollmentFlow) => {
  const parts = partsView(authorization)
  return {
    message: ownerMessage(authorization),
    agentAccountId: authorization.agentAccountId,
    accountIndex: authorization.accountIndex.toString(),
    accountType: authorization.accountType,
    flowId,
    ...(parts === undefined ? {} : { authorization: parts })
  }
}

/** The answer of stage 2. */
export const enrolledView = (enrolled: Enrolled) => ({
  portfolioId: enrolled.portfolioId,
  portfolioName: enrolled.portfolioName,
  strategyId: enrolled.strategyId,
  smartAccounts: enrolled.smartAccounts.map(smartAccountView),
  ...labelsView(enrolled)
})
