/**
 * Turns the planned trades of a chain into a batch that passes simulation and is worth its gas, or returns why there is
 * none. Nothing is sent, so it may be repeated freely.
 */
import { Context, Effect, Layer, Option, Schedule, Struct } from "effect"
import { grantOn } from "#domain/account/Grant.ts"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import type { ChainTask, QuoteSources } from "#domain/rebalance/BatchDrafts.ts"
import { BatchSimulator, type SimulatedDraft } from "#domain/rebalance/BatchSimulator.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type ChainPlanOfRun, PlanOfChain } from "#domain/rebalance/plan/PlanOfChain.ts"
import { nothing, type Preparation, type Ready } from "#domain/rebalance/Preparation.ts"
import { notWorthCost } from "#domain/planning/bands/policySkips.ts"
import { type PlannedChain, plannedUsd, type RunPlan } from "#domain/rebalance/plan/RunPlan.ts"
import { type PlanContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedAction } from "#domain/relay/Transaction.ts"
import { chainSkip, dollars, type RecordedSkip, SkipCode } from "#domain/Skip.ts"
import type { PlannedLeg, PlannedTransfer } from "#domain/trading/PlannedTrades.ts"

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
    /** The skips of the answer are the plan's and its own. */
    readonly prepare: (attempt: AttemptId, plan: RunPlan) => Effect.Effect<Preparation>
    /** What a first attempt would prepare on a chain now, for a preview. */
    readonly preview: (context: PlanContext, plan: ChainPlanOfRun) => Effect.Effect<Preparation>
  }
>()("ballast/domain/rebalance/BatchPreparer") {
  static readonly layer = Layer.effect(
    BatchPreparer,
    Effect.gen(function* () {
      const runs = yield* RunStore
      const plans = yield* PlanOfChain
      const simulator = yield* BatchSimulator
      const signatures = yield* RequiredSignatures
      const gas = yield* GasBudget

      /**
       * Why trades by a policy are not made after all: their gas as estimated, deployment included, is more than
       * planned.
       */
      const isUnworthy = Effect.fnUntraced(function* ({ chainId, measures }: PlannedChain, prepared: PreparedAction) {
        const expected = yield* gas.expectedUsd(prepared)
        if (measures?.worth == null || Option.isNone(expected)) return undefined
        const { benefitUsd, costUsd, gasUsd } = measures.worth
        if (expected.value <= gasUsd) return undefined
        const worth = { benefitUsd, costUsd: costUsd - gasUsd + expected.value, gasUsd: expected.value }
        if (benefitUsd > worth.costUsd) return undefined
        return Struct.omit(notWorthCost(chainId, worth), ["chainId"])
      })

      /** What the chain accepts, when it is worth its gas. */
      const batchOf = Effect.fnUntraced(function* (task: ChainTask, sources: QuoteSources) {
        const draft = yield* simulator.simulate(task, sources)
        const preparation = preparationOf(draft)
        if (preparation._tag !== "Ready") return preparation
        const waste = yield* gas.waste(preparation.prepared, valueOf(draft))
        if (Option.isSome(waste)) return nothing([...preparation.skips, gasSkip(waste.value)], null)
        const unworthy = yield* isUnworthy(draft.plan.chain, preparation.prepared)
        if (unworthy !== undefined) return nothing([...preparation.skips, unworthy], null)
        return preparation
      })

      const preparePlan = Effect.fnUntraced(function* (
        context: PlanContext,
        plan: ChainPlanOfRun,
        sources: QuoteSources
      ) {
        const { chainId, legs, skips, transfers = [] } = plan.chain
        if (legs.length + transfers.length === 0) return nothing(skips, null)
        const grant = grantOn(context.grants, chainId)
        const authorization = grant?.authorization.chains.find((chain) => chain.chainId === chainId)
        if (grant === undefined || authorization === undefined)
          return nothing(skips, `the owner did not authorize chain ${chainId}`)
        const refusal = yield* gas.refusal(context)
        if (Option.isSome(refusal)) return nothing([...skips, gasSkip(refusal.value)], refusal.value)
        return yield* Effect.catchTag(
          batchOf({ context, plan, grant, authorization }, sources),
          "AuthorizationRequired",
          ({ cause, permissionId, reason }) =>
            Effect.succeed<Preparation>({ _tag: "Unsigned", skips, permissionId, cause, reason })
        )
      })

      const tryOnce = Effect.fnUntraced(function* (attempt: AttemptId, planned: RunPlan) {
        const context = yield* Effect.orDie(Effect.flatMap(runs.context(attempt.operationId), Effect.fromOption))
        const plan = yield* plans.current(attempt, planned, context)
        // What was sent over routes and reverted is not tried over routes again.
        const preparation = yield* preparePlan(context, plan, attempt.attempt === 1 ? "venue and routes" : "venue")
        const { chainId } = plan.chain
        if (preparation._tag === "Ready" && context.awaited.includes(chainId)) {
          yield* signatures.settle(context.portfolioId, chainId)
        }
        return preparation
      })

      const unreached =
        (chain: PlannedChain | undefined) =>
        ({ message }: ChainUnavailable) => {
          const reason = chain === undefined ? message : `${message}; ${dollars(plannedUsd(chain))} are not traded`
          return Effect.succeed(nothing([chainSkip(SkipCode.chainUnavailable, reason)], message))
        }

      const prepare = Effect.fn("BatchPreparer.prepare")((attempt: AttemptId, plan: RunPlan) =>
        tryOnce(attempt, plan).pipe(
          Effect.retry({ while: (error) => error._tag === "ChainUnavailable", schedule: chainRetry }),
          Effect.catchTag("ChainUnavailable", unreached(plan.chains.find(({ chainId }) => chainId === attempt.chainId)))
        )
      )

      const preview = Effect.fn("BatchPreparer.preview")((context: PlanContext, plan: ChainPlanOfRun) =>
        Effect.catchTag(preparePlan(context, plan, "venue and routes"), "ChainUnavailable", unreached(plan.chain))
      )

      return BatchPreparer.of({ prepare, preview })
    })
  ).pipe(Layer.provide([PlanOfChain.layer, BatchSimulator.layer]))
}

const preparationOf = ({
  batch: { swaps, transfers = [] },
  failure,
  plan: { chain },
  prepared,
  skips
}: SimulatedDraft): Preparation =>
  prepared === null
    ? nothing(skips, failure)
    : ({
        _tag: "Ready",
        // A route's calldata is in the prepared operation and is not needed again.
        swaps: swaps.map(({ call: _, ...swap }) => swap),
        ...(transfers.length === 0 ? {} : { transfers }),
        skips,
        ...(chain.measures === undefined ? {} : { measures: chain.measures }),
        prepared
      } satisfies Ready)

/** US dollars (wad) that the batch sells and sends, by the plan that it was made from. */
const valueOf = ({ batch: { swaps, transfers = [] }, plan: { chain } }: SimulatedDraft): bigint => {
  const isMade = (leg: PlannedLeg) => swaps.some(({ buy, sell }) => buy === leg.buy && sell === leg.sell)
  const isSent = (one: PlannedTransfer) => transfers.some(({ buy }) => buy === one.buy)
  const values = [...chain.legs.filter(isMade), ...(chain.transfers ?? []).filter(isSent)]
  return values.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
}

const gasSkip = (reason: string): RecordedSkip => chainSkip(SkipCode.gasRefused, reason)
