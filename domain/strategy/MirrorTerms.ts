/**
 * The terms on which a tenant mirrors a strategy of another one. What its creator changes afterwards reaches the
 * tenant's portfolios only as far as it is tighter or slower, until the tenant accepts the terms as they are then. An
 * extension of the interface: docs/decisions/0086-terms-of-mirroring.md.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import { MirrorTermsStore, type StoredTerms, type Terms } from "#domain/strategy/MirrorTermsStore.ts"
import { type Frequency, slowerOf } from "#domain/mandate/RebalanceSchedule.ts"
import { type SwapLimits, SwapSettings } from "#domain/strategy/SwapSettings.ts"
import { swapLimits } from "#domain/strategy/resolveSwap.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"

/** Terms with what follows from them for the tenant's portfolios. */
export interface TermsInForce extends StoredTerms {
  /** Whether everything that the creator has set now is accepted. */
  readonly isCurrent: boolean
  readonly applied: { readonly frequency: Frequency; readonly swap: SwapLimits }
}

/**
 * Terms on which a tenant mirrors a strategy.
 *
 * **When to use**
 *
 * Use in the routes that show and accept terms. The first enrollment accepts the terms of its moment by itself.
 */
export class MirrorTerms extends Context.Service<
  MirrorTerms,
  {
    /** Not found where no user of the tenant was ever enrolled into the strategy, and for the tenant's own. */
    readonly get: (strategyId: StrategyId) => Effect.Effect<TermsInForce, NotFound, Caller>
    /**
     * Accepts the terms as they are now; refused when `terms` are not those, because they changed since they were read.
     */
    readonly accept: (
      strategyId: StrategyId,
      terms: Terms
    ) => Effect.Effect<TermsInForce, NotFound | ValidationFailed, Caller>
  }
>()("ballast/domain/strategy/MirrorTerms") {
  static readonly layer = Layer.effect(
    MirrorTerms,
    Effect.gen(function* () {
      const store = yield* MirrorTermsStore
      const tenants = yield* TenantConfigurationStore
      const swapSettings = yield* SwapSettings

      const inForce = Effect.fnUntraced(function* (tenantId: TenantId, stored: StoredTerms) {
        const { accepted, offered } = stored
        const { swap: tenant } = yield* tenants.preferences(tenantId)
        return {
          ...stored,
          isCurrent: isSame(accepted, offered),
          applied: {
            frequency: slowerOf(accepted.frequency, offered.frequency),
            swap: swapLimits({ strategy: offered.swap, tenant, accepted: accepted.swap }, swapSettings)
          }
        }
      })

      const require = Effect.fnUntraced(function* (tenantId: TenantId, strategyId: StrategyId) {
        const stored = yield* store.find(tenantId, strategyId)
        if (Option.isSome(stored)) return stored.value
        return yield* new NotFound({ message: `No portfolio of this tenant mirrors strategy ${strategyId}` })
      })

      const get = Effect.fn("MirrorTerms.get")(function* (strategyId: StrategyId) {
        const { tenantId } = yield* Caller
        return yield* inForce(tenantId, yield* require(tenantId, strategyId))
      })

      const accept = Effect.fn("MirrorTerms.accept")(function* (strategyId: StrategyId, terms: Terms) {
        const { tenantId } = yield* Caller
        yield* require(tenantId, strategyId)
        if (!(yield* store.accept({ tenantId, strategyId, terms, at: yield* DateTime.now }))) {
          return yield* new ValidationFailed({
            message: "These are not the terms that the strategy has now; read them again and accept those",
            details: ["schedule, preferences: differ from what is offered"]
          })
        }
        return yield* inForce(tenantId, yield* require(tenantId, strategyId))
      })

      return MirrorTerms.of({ get, accept })
    })
  )
}

const isSame = (one: Terms, other: Terms): boolean =>
  one.frequency === other.frequency &&
  one.swap.slippageBps === other.swap.slippageBps &&
  one.swap.priceImpactBps === other.swap.priceImpactBps &&
  one.swap.thresholdUsd === other.swap.thresholdUsd
