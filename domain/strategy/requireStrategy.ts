/**
 * The strategy of a request, or one answer for all that the caller must not distinguish: missing, private, foreign.
 */
import { Effect, Option } from "effect"
import { NotFound } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { OwnStrategy, StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"

/**
 * Which strategies a tenant may read: its own, and the public ones of others. Source: interface "Strategy read routes".
 */
export const isAccessible = (
  { tenantId, isPublic }: Pick<Strategy, "tenantId" | "isPublic">,
  caller: TenantId
): boolean => tenantId === caller || isPublic

const notFound = (strategyId: StrategyId) =>
  new NotFound({ message: `There is no strategy ${strategyId} that this key can access` })

/** One's own strategy, or a public one of another tenant. */
export const requireReadable = Effect.fnUntraced(function* (store: StrategyStore["Service"], strategyId: StrategyId) {
  const { tenantId } = yield* Caller
  const strategy = yield* store.find(strategyId)
  if (Option.isNone(strategy) || !isAccessible(strategy.value, tenantId)) return yield* notFound(strategyId)
  return strategy.value
})

/** What a store did to one's own strategy; a public one of another tenant is not found either. */
export const requireOwn = Effect.fnUntraced(function* <A, E = never>(
  strategyId: StrategyId,
  act: (strategy: OwnStrategy) => Effect.Effect<Option.Option<A>, E>
) {
  const { tenantId } = yield* Caller
  const done = yield* act({ tenantId, strategyId })
  return Option.isNone(done) ? yield* notFound(strategyId) : done.value
})
