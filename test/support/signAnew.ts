/** The owner authorizes the first chain anew, as by the activation routes: the same account, another permission. */
import { DateTime, Effect, Option } from "effect"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { makeFlowId, type PortfolioId, type StrategyId, type TenantId } from "#domain/values/Ids.ts"
import { PermissionId } from "#domain/account/Authorization.ts"

interface Portfolio {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly strategyId: StrategyId
}

export const signAnew = Effect.fnUntraced(function* ({ portfolioId, strategyId, tenantId }: Portfolio) {
  const enrollments = yield* EnrollmentStore
  const { grants } = Option.getOrThrow(yield* enrollments.findEnrolled(tenantId, portfolioId))
  const { authorization } = grants[0]
  const createdAt = yield* DateTime.now
  const flow = {
    flowId: yield* makeFlowId,
    tenantId,
    purpose: { _tag: "Activate" as const, portfolioId },
    strategyId,
    authorization: {
      ...authorization,
      chains: [{ ...authorization.chains[0], permissionId: PermissionId.make("0x00000002") }] as const
    },
    createdAt,
    expiresAt: DateTime.add(createdAt, { days: 1 })
  }
  yield* enrollments.insertFlow(flow)
  return yield* enrollments.activate({ portfolioId, flow, ownerSignature: "0xdd", grantedAt: createdAt })
})
