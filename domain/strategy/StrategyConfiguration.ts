/**
 * What a creator configures of its strategy besides the target: when its portfolios are rebalanced, how swaps are made,
 * and what they are charged. Source: shapes 2.8, 2.9 and 2.14.
 *
 * Schedule and preferences of a public strategy are read with the strategy itself; fees are seen by the creator alone.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { NotFound } from "#domain/errors/Errors.ts"
import type { Caller } from "#domain/identity/Caller.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import type { RebalanceSchedule } from "#domain/mandate/RebalanceSchedule.ts"
import { requireOwn } from "#domain/strategy/requireStrategy.ts"
import type { Preferences, PreferencesPatch } from "#domain/mandate/SwapPreferences.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"

/**
 * What a creator configures of a strategy besides the target.
 *
 * **When to use**
 *
 * Use in routes of a strategy's schedule, preferences and fees. Defaults of the whole tenant are `TenantConfiguration`.
 */
export class StrategyConfiguration extends Context.Service<
  StrategyConfiguration,
  {
    /**
     * Applies to every portfolio that follows the strategy, those of other tenants only as far as they accepted it. The
     * new interval counts from the beginning of the cycle that a portfolio is in, so its due time moves forward or
     * back.
     */
    readonly setSchedule: (
      strategyId: StrategyId,
      schedule: RebalanceSchedule
    ) => Effect.Effect<RebalanceSchedule, NotFound, Caller>
    /** Sets the given preferences, or clears those given as null. */
    readonly patchPreferences: (
      strategyId: StrategyId,
      patch: PreferencesPatch
    ) => Effect.Effect<Preferences, NotFound, Caller>
    readonly fee: (strategyId: StrategyId) => Effect.Effect<SwapFee, NotFound, Caller>
    /** Sets the override of the tenant's fee, or clears it by null. */
    readonly patchFee: (strategyId: StrategyId, patch: Partial<SwapFee>) => Effect.Effect<SwapFee, NotFound, Caller>
  }
>()("ballast/domain/strategy/StrategyConfiguration") {
  static readonly layer = Layer.effect(
    StrategyConfiguration,
    Effect.map(StrategyStore, (store) => {
      const setSchedule = Effect.fn("StrategyConfiguration.setSchedule")(function* (
        strategyId: StrategyId,
        { frequency, type }: RebalanceSchedule
      ) {
        const now = yield* DateTime.now
        const set = yield* requireOwn(strategyId, (own) => store.setFrequency(own, frequency, now))
        return { type, frequency: set }
      })

      const patchPreferences = Effect.fn("StrategyConfiguration.patchPreferences")(
        (strategyId: StrategyId, patch: PreferencesPatch) =>
          requireOwn(strategyId, (own) => store.patchSwap(own, patch))
      )

      const fee = Effect.fn("StrategyConfiguration.fee")((strategyId: StrategyId) => requireOwn(strategyId, store.fee))

      const patchFee = Effect.fn("StrategyConfiguration.patchFee")((strategyId: StrategyId, patch: Partial<SwapFee>) =>
        requireOwn(strategyId, (own) => store.patchFee(own, patch))
      )

      return StrategyConfiguration.of({ setSchedule, patchPreferences, fee, patchFee })
    })
  )
}
