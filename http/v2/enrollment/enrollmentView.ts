/** Both stages of an enrollment as v2 shows them. Source: shapes 2.15 and 2.16. */
import type { Enrolled, EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import { labelsView } from "#http/v2/values/labels.ts"
import { smartAccountView } from "#http/v2/portfolio/portfolioView.ts"

/** The answer of stage 1. */
export const signatureView = ({ authorization, flowId }: EnrollmentFlow) => ({
  message: ownerMessage(authorization),
  agentAccountId: authorization.agentAccountId,
  accountIndex: authorization.accountIndex.toString(),
  accountType: authorization.accountType,
  flowId
})

/** The answer of stage 2. */
export const enrolledView = (enrolled: Enrolled) => ({
  portfolioId: enrolled.portfolioId,
  portfolioName: enrolled.portfolioName,
  strategyId: enrolled.strategyId,
  smartAccounts: enrolled.smartAccounts.map(smartAccountView),
  ...labelsView(enrolled)
})
