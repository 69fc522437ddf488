/** Both stages of a withdrawal as v2 shows them. Source: shapes 2.22 and 2.23. */
import { DateTime } from "effect"
import type { WithdrawalAuthorization } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { AcceptedWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

/** The answer of stage 1. */
export const authorizationView = ({ authorizationId, expiresAt, typedData }: WithdrawalAuthorization) => ({
  authorizationId,
  expiresAt: DateTime.formatIso(expiresAt),
  typedData
})

/** The answer of stage 2. */
export const acceptedView = ({ operationId, submittedAt }: AcceptedWithdrawal) => ({
  operationId,
  submittedAt: DateTime.formatIso(submittedAt)
})
