/**
 * Turns the planned trades of a chain into a batch that passes simulation and is worth its gas, or returns why there is
 * none. Nothing is sent, so it may be repeated freely.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import { ChainBatches } from "#domain/rebalance/ChainBatches.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type ChainPlanOfRun, PlanOfChain } from "#domain/rebalance/plan/PlanOfChain.ts"
import { nothing, type Preparation } from "#domain/rebalance/Preparation.ts"
import { type PlannedChain, plannedUsd } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { type PlanContext, RunStore } from "#domain/rebalance/RunStore.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { chainSkip, dollars, SkipCode } from "#domain/values/Skip.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/** A chain that stays unreachable this long is left to the next run: nothing was sent yet. */
export const chainRetry = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 5 }))

/**
 * A batch that the chain accepts and that is worth its gas.
 *
 * **When to use**
 *
 * Use inside an attempt of a run (`prepare`), or to show one (`preview`). An owner's swap is prepared by
 * `SwapPreparer`.
 */
export class BatchPreparer extends Context.Service<
  BatchPreparer,
  {
    /**
     * The skips of the answer are the plan's and its own. What was sent over routes and reverted is not tried over
     * routes again.
     */
    readonly prepare: (attempt: AttemptId, plan: RunPlan, hasReverted: boolean) => Effect.Effect<Preparation>
    /** What a first attempt would prepare on a chain now, for a preview. */
    readonly preview: (context: PlanContext, plan: ChainPlanOfRun) => Effect.Effect<Preparation>
  }
>()("ballast/domain/rebalance/BatchPreparer") {
  static readonly layer = Layer.effect(
    BatchPreparer,
    Effect.gen(function* () {
      const runs = yield* RunStore
      const plans = yield* PlanOfChain
      const batches = yield* ChainBatches
      const signatures = yield* RequiredSignatures

      const tryOnce = Effect.fnUntraced(function* ({ attempt, hasReverted, isFirstTry, planned }: Try) {
        const context = yield* Effect.orDie(Effect.flatMap(runs.context(attempt.operationId), Effect.fromOption))
        const plan = yield* plans.current(attempt, planned, { context, isFirstTry })
        const sources = hasReverted ? "venue" : "venue and routes"
        const preparation = yield* batches.prepare({ context, plan, sources })
        const { chainId } = plan.chain
        if (preparation._tag === "Ready" && context.awaited.includes(chainId)) {
          yield* signatures.clear(context.portfolioId, chainId)
        }
        return preparation
      })

      const prepare = Effect.fn("BatchPreparer.prepare")((attempt: AttemptId, plan: RunPlan, hasReverted: boolean) => {
        let isFirstTry = true
        const tried = Effect.suspend(() => {
          const next = { attempt, hasReverted, isFirstTry, planned: plan }
          isFirstTry = false
          return tryOnce(next)
        })
        return Effect.andThen(spanIsAbout(attempt), tried).pipe(
          Effect.retry({ while: (error) => error._tag === "ChainUnavailable", schedule: chainRetry }),
          Effect.catchTag("ChainUnavailable", unreached(plan.chains.find(({ chainId }) => chainId === attempt.chainId)))
        )
      })

      const preview = Effect.fn("BatchPreparer.preview")((context: PlanContext, plan: ChainPlanOfRun) =>
        Effect.catchTag(
          batches.prepare({ context, plan, sources: "venue and routes" }),
          "ChainUnavailable",
          unreached(plan.chain)
        )
      )

      return BatchPreparer.of({ prepare, preview })
    })
  ).pipe(Layer.provide([PlanOfChain.layer, ChainBatches.layer]))
}

/** One try of an attempt. */
interface Try {
  readonly attempt: AttemptId
  readonly planned: RunPlan
  readonly hasReverted: boolean
  readonly isFirstTry: boolean
}

/** What a chain comes to that stays unreachable. */
const unreached =
  (chain: PlannedChain | undefined) =>
  ({ message }: ChainUnavailable) => {
    const reason = chain === undefined ? message : `${message}; ${dollars(plannedUsd(chain))} are not traded`
    return Effect.succeed(nothing([chainSkip(SkipCode.chainUnavailable, reason)], message))
  }
