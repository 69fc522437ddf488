/**
 * What a run would do now, by the planner, the quotes and the simulation of a real one; nothing is sent or recorded.
 */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { previewedChain, type PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"

export interface PlannedNow {
  readonly plan: PreviewedPlan
  /** Time at which balances and prices were read. */
  readonly plannedAt: DateTime.Utc
}

/**
 * What a run would do now.
 *
 * **When to use**
 *
 * Use in `Previews` alone, which names the plan by its hash.
 */
export class DryRun extends Context.Service<
  DryRun,
  {
    /** Never fails for an outside reason: what cannot be read, quoted or simulated is a skip of the plan. */
    readonly plan: (context: PlanContext) => Effect.Effect<PlannedNow>
  }
>()("ballast/domain/rebalance/preview/DryRun") {
  static readonly layer = Layer.effect(
    DryRun,
    Effect.gen(function* () {
      const planner = yield* RunPlanner
      const preparer = yield* BatchPreparer
      const gas = yield* GasBudget

      const plan = Effect.fn("DryRun.plan")(function* (context: PlanContext) {
        const { chains, limits, plannedAt, strategyVersion } = yield* planner.preview(context)
        const onChain = Effect.fnUntraced(function* (chain: PlannedChain) {
          const preparation = yield* preparer.preview(context, { chain, limits })
          const cost =
            preparation._tag === "Ready" ? yield* gas.expectedUsd(preparation.prepared.cost) : Option.none<bigint>()
          return previewedChain(chain, preparation, Option.getOrNull(cost))
        })
        const previewed = yield* Effect.forEach(chains, onChain, { concurrency: "unbounded" })
        return { plan: { strategyVersion, slippageBps: limits.slippageBps, chains: previewed }, plannedAt }
      })

      return DryRun.of({ plan })
    })
  )
}
