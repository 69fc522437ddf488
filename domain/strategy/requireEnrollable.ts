/** The strategy of an enrollment, if it takes one now: checked at both stages. */
import { Effect, Option } from "effect"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

/**
 * Strategies into which a tenant may enroll users: its own, and the public ones of others that may be mirrored.
 * Source: interface "enroll/signature" and "Internal admin routes".
 */
export const isEnrollable = (
  { canMirror, isPublic, tenantId }: Pick<Strategy, "tenantId" | "isPublic" | "canMirror">,
  caller: TenantId
): boolean => tenantId === caller || (isPublic && canMirror)

export const unknownStrategy = (strategyId: StrategyId) =>
  new ValidationFailed({
    message: "The strategy does not exist or is not accessible",
    details: [`strategyId: unknown strategy ${strategyId}`]
  })

/** One answer for what the caller must not distinguish: missing, private, and not to be mirrored. */
export const requireEnrollable = Effect.fnUntraced(function* (store: StrategyStore["Service"], strategyId: StrategyId) {
  const { tenantId } = yield* Caller
  const strategy = yield* store.find(strategyId)
  if (Option.isNone(strategy) || !isEnrollable(strategy.value, tenantId)) {
    return yield* unknownStrategy(strategyId)
  }
  if (strategy.value.archivedAt !== undefined) {
    return yield* new ValidationFailed({
      message:
        "The strategy is archived, so nobody is enrolled into it any more; its creator may restore it at /v2/strategies/{strategyId}/restore",
      details: [`strategyId: ${strategyId} is archived`]
    })
  }
  return strategy.value
})
