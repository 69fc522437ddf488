/**
 * Turns the planned legs of a chain into a batch that the chain says would succeed: fresh quotes, limits, simulation.
 * When the batch as a whole fails its simulation, each swap is tried alone and those that fail are left out.
 *
 * A plan that has aged, because the service was down, and any plan that was acted on before, is made anew first: whatever
 * happened meanwhile, a trade that is no longer needed is not made.
 */
import { Context, DateTime, Duration, Effect, Layer, Schedule, Schema } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import { grantOn } from "#domain/enrollment/Grant.ts"
import { ChainExecution, type SimulationFailed, Swap, type SwapBatch } from "#domain/rebalance/ChainExecution.ts"
import { priceLegs } from "#domain/rebalance/priceLegs.ts"
import { type PlannedChain, RecordedSkip, type RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import { Venue } from "#domain/rebalance/Venue.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { PreparedTransaction } from "#domain/relay/Transaction.ts"

/** A batch that is ready to be signed by the relayer, or nothing that could be traded. */
export const Preparation = Schema.Union([
  Schema.TaggedStruct("Ready", {
    swaps: Schema.Array(Swap),
    skips: Schema.Array(RecordedSkip),
    prepared: PreparedTransaction
  }),
  Schema.TaggedStruct("Nothing", { skips: Schema.Array(RecordedSkip), failure: Schema.NullOr(Schema.String) })
])
export type Preparation = typeof Preparation.Type

/** A plan older than this is made anew before it is acted on. */
const planLife = Duration.minutes(2)

/** A chain that stays unreachable this long is left to the next run: nothing was sent yet. */
const chainRetry = Schedule.exponential(Duration.millis(500)).pipe(Schedule.upTo({ times: 5 }))

export class BatchPreparer extends Context.Service<
  BatchPreparer,
  {
    /** The skips of the answer are the plan's and its own. */
    readonly prepare: (attempt: AttemptId, plan: RunPlan) => Effect.Effect<Preparation>
  }
>()("ballast/domain/rebalance/BatchPreparer") {
  static readonly layer = Layer.effect(
    BatchPreparer,
    Effect.gen(function* () {
      const runs = yield* RunStore
      const planner = yield* RunPlanner
      const venue = yield* Venue
      const execution = yield* ChainExecution

      /** The swaps that pass simulation when each is made alone. */
      const isolate = Effect.fnUntraced(function* (batch: SwapBatch) {
        const checked = yield* Effect.forEach(batch.swaps, (swap) =>
          execution.prepare({ ...batch, swaps: [swap] }).pipe(
            Effect.as({ swap, failure: null as SimulationFailed | null }),
            Effect.catchTag("SimulationFailed", (failure) => Effect.succeed({ swap, failure }))
          )
        )
        return {
          swaps: checked.flatMap(({ swap, failure }) => (failure === null ? [swap] : [])),
          skips: checked.flatMap(({ swap, failure }) =>
            failure === null ? [] : [simulationSkip(swap, failure.reason)]
          )
        }
      })

      const prepareWithout = Effect.fnUntraced(function* (
        batch: SwapBatch,
        skips: ReadonlyArray<RecordedSkip>,
        whole: SimulationFailed
      ) {
        const alone = yield* isolate(batch)
        const all = [...skips, ...alone.skips]
        if (alone.swaps.length === 0 || alone.skips.length === 0) return nothing(all, whole.message)
        return ready(alone.swaps, all, yield* execution.prepare({ ...batch, swaps: alone.swaps }))
      })

      const simulate = Effect.fnUntraced(function* (batch: SwapBatch, skips: ReadonlyArray<RecordedSkip>) {
        return yield* execution.prepare(batch).pipe(
          Effect.map((prepared) => ready(batch.swaps, skips, prepared)),
          Effect.catchTag("SimulationFailed", (failed) => prepareWithout(batch, skips, failed))
        )
      })

      /** What to do on the chain by a plan that is still true. */
      const currentPlan = Effect.fnUntraced(function* (
        { chainId, attempt }: AttemptId,
        plan: RunPlan,
        context: RunContext
      ) {
        const age = DateTime.distance(plan.plannedAt, yield* DateTime.now)
        const isCurrent = attempt === 1 && Duration.isLessThanOrEqualTo(age, planLife)
        const { chains, limits } = isCurrent ? plan : yield* planner.plan(context)
        const none: PlannedChain = { chainId: chainId as ChainId, legs: [], skips: [] }
        return { limits, chain: chains.find((planned) => planned.chainId === chainId) ?? none }
      })

      const tryOnce = Effect.fnUntraced(function* (attempt: AttemptId, plan: RunPlan) {
        const context = yield* Effect.orDie(Effect.flatMap(runs.context(attempt.operationId), Effect.fromOption))
        const { chain, limits } = yield* currentPlan(attempt, plan, context)
        if (chain.legs.length === 0) return nothing(chain.skips, null)
        const grant = grantOn(context.grants, chain.chainId)
        if (grant === undefined) return nothing(chain.skips, `the owner did not authorize chain ${chain.chainId}`)
        const policy = grant.authorization.chains.find(({ chainId }) => chainId === chain.chainId)?.policy
        const quotes = yield* venue.quote(chain.chainId, policy?.hubs ?? [], chain.legs)
        const priced = priceLegs(chain.legs, quotes, { ...limits, hopFeeBps: venue.feeBps })
        const skips = [...chain.skips, ...priced.skips]
        if (priced.swaps.length === 0) return nothing(skips, null)
        return yield* simulate({ chainId: chain.chainId, ...grant, swaps: priced.swaps }, skips)
      })

      const prepare = Effect.fn("BatchPreparer.prepare")(function* (attempt: AttemptId, plan: RunPlan) {
        return yield* tryOnce(attempt, plan).pipe(
          Effect.retry({ while: (error) => error._tag === "ChainUnavailable", schedule: chainRetry }),
          Effect.catch((error) =>
            Effect.succeed(
              nothing(error._tag === "ChainUnavailable" ? [unavailableSkip(error.message)] : [], error.message)
            )
          )
        )
      })

      return BatchPreparer.of({ prepare })
    })
  )
}

const ready = (
  swaps: ReadonlyArray<Swap>,
  skips: ReadonlyArray<RecordedSkip>,
  prepared: PreparedTransaction
): Preparation => ({
  _tag: "Ready",
  swaps,
  skips,
  prepared
})

const nothing = (skips: ReadonlyArray<RecordedSkip>, failure: string | null): Preparation => ({
  _tag: "Nothing",
  skips,
  failure
})

const simulationSkip = (swap: Swap, reason: string): RecordedSkip => ({
  assetId: null,
  sell: swap.sell,
  buy: swap.buy,
  code: SkipCode.simulationFailed,
  valueUsd: null,
  reason
})

const unavailableSkip = (reason: string): RecordedSkip => ({
  assetId: null,
  code: SkipCode.chainUnavailable,
  valueUsd: null,
  reason
})
