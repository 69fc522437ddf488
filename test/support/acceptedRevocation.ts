/** A revocation accepted straight in the stores, as stage 2 leaves it. */
import { DateTime, Effect, Option } from "effect"
import { authorizedChains } from "#domain/account/Grant.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { makeFlowId, makeOperationId } from "#domain/values/Ids.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { RevocationStore } from "#domain/revocation/RevocationStore.ts"
import type { Enrolled } from "#test/support/acceptedWithdrawal.ts"

/** Revokes on all chains of the portfolio, or on the first of them; answers its operation. */
export const acceptRevocation = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Enrolled,
  chains: "all" | "first" = "all"
) {
  const { grants } = Option.getOrThrow(yield* (yield* EnrollmentStore).findEnrolled(tenantId, portfolioId))
  const { accountIndex, accountType, ownerAccountId, withdrawalDomainName } = grants[0].authorization
  const [first, ...others] = authorizedChains(grants)
  const revocation = yield* (yield* RevocationTransactions).draft({
    accountType,
    ownerAccountId,
    accountIndex,
    withdrawalDomainName,
    accounts: [first!, ...(chains === "all" ? others : [])]
  })
  const store = yield* RevocationStore
  const createdAt = yield* DateTime.now
  const flowId = yield* makeFlowId
  const flow = { flowId, tenantId, portfolioId, revocation, createdAt, expiresAt: DateTime.add(createdAt, { days: 1 }) }
  yield* store.insert(flow)
  const operationId = yield* makeOperationId
  const isAccepted = yield* store.accept(flow, "0x1b", { operationId, submittedAt: createdAt })
  return isAccepted ? operationId : yield* Effect.die(new Error("The revocation was not accepted"))
})
