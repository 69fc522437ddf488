/**
 * What a run has to do on one chain, by a plan that is still true. A plan that has aged, because the service was down,
 * and any plan that was acted on before, is made anew: whatever happened meanwhile, a trade that is no longer needed is
 * not made.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import type { PlanContext, RunContext } from "#domain/rebalance/RunStore.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"

/** The part of a run's plan that is carried out on one chain. */
export interface ChainPlanOfRun extends Pick<RunPlan, "limits"> {
  readonly chain: PlannedChain
}

/** A plan older than this is made anew before it is acted on. */
const planLife = Duration.minutes(2)

/**
 * What a run has to do on one chain now.
 *
 * **When to use**
 *
 * Use at the beginning of each attempt on a chain.
 */
export class PlanOfChain extends Context.Service<
  PlanOfChain,
  {
    /** `isFirstTry` false: the chain has refused a batch of the plan, which may be because the account has changed. */
    readonly current: (
      attempt: AttemptId,
      plan: RunPlan,
      { context, isFirstTry }: { readonly context: RunContext; readonly isFirstTry: boolean }
    ) => Effect.Effect<ChainPlanOfRun>
    /** A new plan, in which nothing leaves the chain. */
    readonly withoutTransfers: (context: PlanContext, chainId: ChainId) => Effect.Effect<ChainPlanOfRun>
  }
>()("ballast/domain/rebalance/PlanOfChain") {
  static readonly layer = Layer.effect(
    PlanOfChain,
    Effect.gen(function* () {
      const planner = yield* RunPlanner

      const current = Effect.fnUntraced(function* (
        { attempt, chainId }: AttemptId,
        plan: RunPlan,
        { context, isFirstTry }: { readonly context: RunContext; readonly isFirstTry: boolean }
      ) {
        const age = DateTime.distance(plan.plannedAt, yield* DateTime.now)
        const isCurrent = isFirstTry && attempt === 1 && Duration.isLessThanOrEqualTo(age, planLife)
        return partOf(isCurrent ? plan : yield* planner.plan(context), chainId)
      })

      const withoutTransfers = Effect.fn("PlanOfChain.withoutTransfers")((context: PlanContext, chainId: ChainId) =>
        Effect.map(planner.plan(context, { excludedSource: chainId }), (plan) => partOf(plan, chainId))
      )

      return PlanOfChain.of({ current, withoutTransfers })
    })
  )
}

const partOf = ({ chains, limits }: RunPlan, chainId: ChainId): ChainPlanOfRun => ({
  limits,
  chain: chains.find((planned) => planned.chainId === chainId) ?? { chainId, legs: [], skips: [] }
})
