/**
 * Turns the planned trades of a chain into a batch that passes simulation and is worth its gas, or returns why there is
 * none. Nothing is sent, so it may be repeated freely.
 */
import { Context, Effect, Layer, Option, Schedule, Struct } from "effect"
import { grantOn } from "#domain/account/Grant.ts"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { notWorthCost } from "#domain/planning/bands/policySkips.ts"
import { type PlannedChain, plannedUsd } from "#domain/planning/PlannedChain.ts"
import type { PlannedLeg, PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import type { ChainTask, PlannedWork, SimulatedDraft } from "#domain/rebalance/BatchDraft.ts"
import { type ChainPlanOfRun, currentPlanOn, RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { nothing, type Preparation, type Ready } from "#domain/rebalance/Preparation.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { type PlanContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { makeSimulateBatch } from "#domain/rebalance/simulateBatch.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { chainSkip, dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { ChainQuotes } from "#domain/trading/ChainQuotes.ts"
import { recordedSwap } from "#domain/trading/Swap.ts"

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
      const planner = yield* RunPlanner
      const prepareBatch = yield* makePrepareBatch
      const signatures = yield* RequiredSignatures

      const tryOnce = Effect.fnUntraced(function* ({ attempt, hasReverted, isFirstTry, planned }: Try) {
        const context = yield* Effect.orDie(Effect.flatMap(runs.context(attempt.operationId), Effect.fromOption))
        const plan = yield* currentPlanOn(planner, { attempt, plan: planned, context, isFirstTry })
        const sources = hasReverted ? "venue" : "venue and routes"
        const preparation = yield* prepareBatch({ context, plan, sources })
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
          prepareBatch({ context, plan, sources: "venue and routes" }),
          "ChainUnavailable",
          unreached(plan.chain)
        )
      )

      return BatchPreparer.of({ prepare, preview })
    })
  ).pipe(Layer.provide(ChainQuotes.layer))
}

/** A batch that is worth its gas. The skips of the answer are the plan's and its own. */
const makePrepareBatch = Effect.gen(function* () {
  const simulate = yield* makeSimulateBatch
  const gas = yield* GasBudget

  /** Why a batch that the chain accepts is not made after all. */
  const refusalOf = Effect.fnUntraced(function* (draft: SimulatedDraft, { prepared }: Ready) {
    const waste = yield* gas.waste(prepared.cost, valueOf(draft))
    if (Option.isSome(waste)) return gasSkip(waste.value)
    const expected = yield* gas.expectedUsd(prepared.cost)
    return Option.isNone(expected) ? undefined : unworthySkip(draft.plan.chain, expected.value)
  })

  /** What the chain accepts, when it is worth its gas. */
  const batchOf = Effect.fnUntraced(function* (task: ChainTask) {
    const draft = yield* simulate(task)
    const preparation = preparationOf(draft)
    if (preparation._tag !== "Ready") return preparation
    const refusal = yield* refusalOf(draft, preparation)
    if (refusal !== undefined) return nothing([...preparation.skips, refusal], null)
    const { prepared } = preparation
    return { ...preparation, prepared: prepared.within(yield* gas.ceilings(prepared.cost, valueOf(draft))) }
  })

  return Effect.fnUntraced(function* (work: PlannedWork) {
    const { context, plan } = work
    const { chainId, legs, skips, transfers = [] } = plan.chain
    if (legs.length + transfers.length === 0) return nothing(skips, null)
    const grant = grantOn(context.grants, chainId)
    const authorization = grant?.authorization.chains.find((chain) => chain.chainId === chainId)
    if (grant === undefined || authorization === undefined)
      return nothing(skips, `the owner did not authorize chain ${chainId}`)
    const refusal = yield* gas.refusal(context)
    if (Option.isSome(refusal)) return nothing([...skips, gasSkip(refusal.value)], refusal.value)
    return yield* Effect.catchTag(
      batchOf({ ...work, grant, authorization }),
      "AuthorizationRequired",
      ({ cause, permissionId, reason }) =>
        Effect.succeed<Preparation>({ _tag: "Unsigned", skips, permissionId, cause, reason })
    )
  })
})

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

/**
 * Why trades by a policy are not made after all: their gas as estimated, deployment included, is more than planned.
 */
const unworthySkip = ({ chainId, measures }: PlannedChain, gasUsd: bigint): RecordedSkip | undefined => {
  if (measures?.worth == null || gasUsd <= measures.worth.gasUsd) return undefined
  const { benefitUsd } = measures.worth
  const costUsd = measures.worth.costUsd - measures.worth.gasUsd + gasUsd
  return benefitUsd > costUsd
    ? undefined
    : Struct.omit(notWorthCost(chainId, { benefitUsd, costUsd, gasUsd }), ["chainId"])
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
        swaps: swaps.map(recordedSwap),
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
