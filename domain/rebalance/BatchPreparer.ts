/**
 * Turns the planned legs of a chain into a batch that the chain says would succeed: fresh quotes, limits, simulation.
 * When the batch as a whole fails its simulation, each swap is tried alone and those that fail are left out.
 */
import { Context, Duration, Effect, Layer, Option, Schedule, Schema } from "effect"
import type { OperationId } from "#domain/Ids.ts"
import { ChainExecution, PreparedBatch, type SimulationFailed, Swap, type SwapBatch } from "#domain/rebalance/ChainExecution.ts"
import { priceLegs } from "#domain/rebalance/priceLegs.ts"
import { type PlannedChain, RecordedSkip, type RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"
import { Venue } from "#domain/rebalance/Venue.ts"

/** A batch that is ready to be signed by the relayer, or nothing that could be traded. */
export const Preparation = Schema.Union([
  Schema.TaggedStruct("Ready", { swaps: Schema.Array(Swap), skips: Schema.Array(RecordedSkip), prepared: PreparedBatch }),
  Schema.TaggedStruct("Nothing", { skips: Schema.Array(RecordedSkip), failure: Schema.NullOr(Schema.String) })
])
export type Preparation = typeof Preparation.Type

/** A chain that stays unreachable this long is left to the next run: nothing was sent yet. */
const chainRetry = Schedule.exponential(Duration.millis(500)).pipe(Schedule.upTo({ times: 5 }))

export class BatchPreparer extends Context.Service<
  BatchPreparer,
  {
    readonly prepare: (operationId: OperationId, chain: PlannedChain, limits: RunPlan["limits"]) => Effect.Effect<Preparation>
  }
>()("ballast/domain/rebalance/BatchPreparer") {
  static readonly layer = Layer.effect(
    BatchPreparer,
    Effect.gen(function* () {
      const runs = yield* RunStore
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
          skips: checked.flatMap(({ swap, failure }) => (failure === null ? [] : [simulationSkip(swap, failure.reason)]))
        }
      })

      const prepareWithout = Effect.fnUntraced(function* (batch: SwapBatch, skips: ReadonlyArray<RecordedSkip>, whole: SimulationFailed) {
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

      const attempt = Effect.fnUntraced(function* (operationId: OperationId, chain: PlannedChain, limits: RunPlan["limits"]) {
        const context = yield* runs.context(operationId)
        if (Option.isNone(context)) return yield* Effect.die(new Error(`Operation ${operationId} is unknown`))
        const { authorization, ownerSignature } = context.value
        const policy = authorization.chains.find(({ chainId }) => chainId === chain.chainId)?.policy
        const quotes = yield* venue.quote(chain.chainId, policy?.hubs ?? [], chain.legs)
        const { swaps, skips } = priceLegs(chain.legs, quotes, { ...limits, hopFeeBps: venue.feeBps })
        if (swaps.length === 0) return nothing(skips, null)
        return yield* simulate({ chainId: chain.chainId, authorization, ownerSignature, swaps }, skips)
      })

      const prepare = Effect.fn("BatchPreparer.prepare")(function* (
        operationId: OperationId,
        chain: PlannedChain,
        limits: RunPlan["limits"]
      ) {
        return yield* attempt(operationId, chain, limits).pipe(
          Effect.retry({ while: (error) => error._tag === "ChainUnavailable", schedule: chainRetry }),
          Effect.catch((error) =>
            Effect.succeed(
              error._tag === "ChainUnavailable"
                ? nothing([unavailableSkip(error.message)], error.message)
                : nothing([], error.message)
            )
          )
        )
      })

      return BatchPreparer.of({ prepare })
    })
  )
}

const ready = (swaps: ReadonlyArray<Swap>, skips: ReadonlyArray<RecordedSkip>, prepared: PreparedBatch): Preparation => ({
  _tag: "Ready",
  swaps,
  skips,
  prepared
})

const nothing = (skips: ReadonlyArray<RecordedSkip>, failure: string | null): Preparation => ({ _tag: "Nothing", skips, failure })

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
