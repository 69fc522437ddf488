/**
 * Turns the planned legs of a chain into a batch that the chain says would succeed: fresh quotes, limits, simulation.
 * When a batch with routed swaps fails its simulation, it is made anew on the venue alone; when that fails as a whole, each
 * swap is tried alone and those that fail are left out.
 *
 * A plan that has aged, because the service was down, and any plan that was acted on before, is made anew first: whatever
 * happened meanwhile, a trade that is no longer needed is not made.
 */
import { Context, DateTime, Duration, Effect, Layer, Schedule, Schema } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import type { ChainAuthorization } from "#domain/enrollment/Authorization.ts"
import { grantOn } from "#domain/enrollment/Grant.ts"
import { RequiredSignatures, SignatureCause } from "#domain/enrollment/RequiredSignatures.ts"
import { BestQuotes } from "#domain/rebalance/BestQuotes.ts"
import { ChainExecution, type SimulationFailed, Swap, type SwapBatch } from "#domain/rebalance/ChainExecution.ts"
import {
  type PlannedChain,
  type PlannedLeg,
  type PlannedTransfer,
  RecordedSkip,
  type RunPlan
} from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import { cutBy, TransferQuotes } from "#domain/transfer/TransferQuotes.ts"

/** A batch that is ready to be signed by the relayer, or nothing that could be traded. */
export const Preparation = Schema.Union([
  Schema.TaggedStruct("Ready", {
    swaps: Schema.Array(Swap),
    transfers: Schema.optionalKey(Schema.Array(OutgoingTransfer)),
    skips: Schema.Array(RecordedSkip),
    prepared: PreparedTransaction
  }),
  /** The agent can act on the chain no longer until the owner has signed anew. */
  Schema.TaggedStruct("Unsigned", {
    skips: Schema.Array(RecordedSkip),
    permissionId: Schema.String,
    cause: SignatureCause,
    reason: Schema.String
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
      const quotes = yield* BestQuotes
      const execution = yield* ChainExecution
      const routes = yield* TransferQuotes
      const signatures = yield* RequiredSignatures

      /** The swaps that pass simulation when each is made alone. */
      const isolate = Effect.fnUntraced(function* (batch: SwapBatch) {
        const checked = yield* Effect.forEach(batch.swaps, (swap) =>
          execution.prepare({ ...batch, swaps: [swap], transfers: [] }).pipe(
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

      /** What would leave is left to the next run here: it needs what all swaps yield. */
      const prepareWithout = Effect.fnUntraced(function* (
        batch: SwapBatch,
        skips: ReadonlyArray<RecordedSkip>,
        whole: SimulationFailed
      ) {
        const { transfers = [], ...stays } = batch
        const alone = yield* isolate(stays)
        const all = [...skips, ...alone.skips, ...transfers.map((transfer) => simulationSkip(transfer, whole.reason))]
        const isSame = alone.skips.length === 0 && transfers.length === 0
        if (alone.swaps.length === 0 || isSame) return nothing(all, whole.message)
        return ready({ ...stays, swaps: alone.swaps }, all, yield* execution.prepare({ ...stays, swaps: alone.swaps }))
      })

      const simulate = Effect.fnUntraced(function* (batch: SwapBatch, skips: ReadonlyArray<RecordedSkip>) {
        if (batch.swaps.length + (batch.transfers?.length ?? 0) === 0) return nothing(skips, null)
        return yield* execution.prepare(batch).pipe(
          Effect.map((prepared) => ready(batch, skips, prepared)),
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
        return chainOf(isCurrent ? plan : yield* planner.plan(context), chainId as ChainId)
      })

      /** The batch of a plan; `refused` are its transfers without an acceptable route, each with the reason. */
      const batchOf = Effect.fnUntraced(function* (
        { chain, limits }: CurrentPlan,
        authorization: ChainAuthorization,
        routed: boolean
      ) {
        const { legs, transfers: planned = [] } = chain
        const { skips, swaps } = yield* quotes.price(authorization, legs, limits, routed)
        const transfers = yield* Effect.forEach(cutBy(planned, shortOf(planned, legs, swaps)), (transfer) =>
          routes.quote(authorization, transfer)
        )
        return {
          swaps,
          skips: [...chain.skips, ...skips],
          transfers: transfers.flatMap((transfer) => ("code" in transfer ? [] : [transfer])),
          refused: transfers.flatMap((transfer) => ("code" in transfer ? [transfer] : []))
        }
      })

      /** The batch of what can be done of a plan, in the end without transfers that have no acceptable route. */
      const feasible = Effect.fnUntraced(function* (
        context: RunContext,
        current: CurrentPlan,
        authorization: ChainAuthorization,
        routed: boolean
      ) {
        const batch = yield* batchOf(current, authorization, routed)
        const { refused } = batch
        if (refused.length === 0) return batch
        // Selling for a transfer that is not made would only cost a fee, so the chain is planned without it.
        const { chainId } = current.chain
        const without = yield* planner.plan(context, { keepOn: chainId })
        const rest = yield* batchOf(chainOf(without, chainId), authorization, routed)
        return { ...rest, skips: [...rest.skips, ...refused] }
      })

      /** A route that the chain refuses costs a leg nothing: all is tried again on the venue alone. */
      const tryOnce = Effect.fnUntraced(function* (attempt: AttemptId, plan: RunPlan) {
        const context = yield* Effect.orDie(Effect.flatMap(runs.context(attempt.operationId), Effect.fromOption))
        const current = yield* currentPlan(attempt, plan, context)
        const { chain } = current
        if (chain.legs.length + (chain.transfers?.length ?? 0) === 0) return nothing(chain.skips, null)
        const grant = grantOn(context.grants, chain.chainId)
        const authorization = grant?.authorization.chains.find(({ chainId }) => chainId === chain.chainId)
        if (grant === undefined || authorization === undefined)
          return nothing(chain.skips, `the owner did not authorize chain ${chain.chainId}`)
        const batchAt = (routed: boolean) =>
          Effect.map(feasible(context, current, authorization, routed), ({ skips, swaps, transfers }) => {
            const batch: SwapBatch = { chainId: chain.chainId, ...grant, swaps, transfers }
            return { batch, skips }
          })
        // What was sent over routes and reverted is not tried over routes again.
        const best = yield* batchAt(attempt.attempt === 1)
        const overRoutes = execution.prepare(best.batch).pipe(
          Effect.map((prepared) => ready(best.batch, best.skips, prepared)),
          Effect.catchTag(
            "SimulationFailed",
            Effect.fnUntraced(function* ({ message }) {
              yield* Effect.logWarning(`Routed swaps were refused, the venue makes them instead: ${message}`)
              const { batch, skips } = yield* batchAt(false)
              return yield* simulate(batch, skips)
            })
          )
        )
        const isRouted = best.batch.swaps.some(({ call }) => call !== undefined)
        const preparation = yield* Effect.catchTag(
          isRouted ? overRoutes : simulate(best.batch, best.skips),
          "AuthorizationRequired",
          ({ cause, permissionId, reason }) =>
            Effect.succeed<Preparation>({ _tag: "Unsigned", skips: best.skips, permissionId, cause, reason })
        )
        if (preparation._tag === "Ready" && context.awaited.includes(chain.chainId))
          yield* signatures.settle(context.portfolioId, chain.chainId)
        return preparation
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

interface CurrentPlan extends Pick<RunPlan, "limits"> {
  readonly chain: PlannedChain
}

const chainOf = ({ chains, limits }: RunPlan, chainId: ChainId): CurrentPlan => ({
  limits,
  chain: chains.find((planned) => planned.chainId === chainId) ?? { chainId, legs: [], skips: [] }
})

/** How much less of what is to leave the swaps yield at least than the plan took for granted. */
const shortOf = (
  transfers: ReadonlyArray<PlannedTransfer>,
  legs: ReadonlyArray<PlannedLeg>,
  swaps: ReadonlyArray<Swap>
): bigint => {
  const carrier = transfers[0]?.sell
  const expected = legs.reduce((sum, { buy, expectedBuyRaw }) => sum + (buy === carrier ? expectedBuyRaw : 0n), 0n)
  return swaps.reduce((left, { buy, minBuyAmountRaw }) => left - (buy === carrier ? minBuyAmountRaw : 0n), expected)
}

const ready = (
  { swaps, transfers = [] }: SwapBatch,
  skips: ReadonlyArray<RecordedSkip>,
  prepared: PreparedTransaction
): Preparation => ({
  _tag: "Ready",
  // A route's calldata is in the prepared operation; nobody asks for it again.
  swaps: swaps.map(({ call: _, ...swap }) => swap),
  ...(transfers.length === 0 ? {} : { transfers }),
  skips,
  prepared
})

const nothing = (skips: ReadonlyArray<RecordedSkip>, failure: string | null): Preparation => ({
  _tag: "Nothing",
  skips,
  failure
})

const simulationSkip = (swap: Pick<Swap, "sell" | "buy">, reason: string): RecordedSkip => ({
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
