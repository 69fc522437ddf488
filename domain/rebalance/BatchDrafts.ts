/** Batches for one chain of a run, with fresh quotes and floors, before they are simulated. */
import { Context, Effect, Layer } from "effect"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { type Grant, replacedPermissions } from "#domain/account/Grant.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type ChainPlanOfRun, PlanOfChain } from "#domain/rebalance/plan/PlanOfChain.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import type { RecordedSkip } from "#domain/values/Skip.ts"
import type { SwapBatch } from "#domain/trading/ChainExecution.ts"
import { ChainQuotes } from "#domain/trading/ChainQuotes.ts"

/** Where quotes of swaps come from. */
export type QuoteSources = "venue" | "venue and routes"

/** What a run has to do on one chain. */
export interface PlannedWork {
  readonly context: PlanContext
  readonly plan: ChainPlanOfRun
  readonly sources: QuoteSources
}

/** The same, and under which grants. */
export interface ChainTask extends PlannedWork {
  readonly grant: Grant
  readonly authorization: ChainAuthorization
}

export interface BatchDraft {
  /** What the batch was made from. */
  readonly plan: ChainPlanOfRun
  readonly batch: SwapBatch
  /** The plan's skips, and those of its quotes. */
  readonly skips: ReadonlyArray<RecordedSkip>
}

/**
 * Batches with fresh quotes, not yet simulated.
 *
 * **When to use**
 *
 * Use in `BatchSimulator`, in place of an earlier draft when something of it is refused.
 */
export class BatchDrafts extends Context.Service<
  BatchDrafts,
  {
    /**
     * What can be made of a plan; without its transfers, planned anew, when one of them has no acceptable route any
     * more.
     */
    readonly quoted: (task: ChainTask) => Effect.Effect<BatchDraft, ChainUnavailable>
    /** What can be made when nothing leaves the chain, planned anew. `skips` say why nothing does. */
    readonly withoutTransfers: (
      task: ChainTask,
      skips: ReadonlyArray<RecordedSkip>
    ) => Effect.Effect<BatchDraft, ChainUnavailable>
  }
>()("ballast/domain/rebalance/BatchDrafts") {
  static readonly layer = Layer.effect(
    BatchDrafts,
    Effect.gen(function* () {
      const quotes = yield* ChainQuotes
      const plans = yield* PlanOfChain

      const draft = Effect.fnUntraced(function* (task: ChainTask) {
        const { plan, sources } = task
        const { chain, limits } = plan
        const { chainId, madeFrom } = chain
        const quoted = yield* quotes.quote(task.authorization, chain, {
          limits,
          routed: sources === "venue and routes",
          notBefore: madeFrom?.blockNumber
        })
        const { grants, operationId } = task.context
        const replaced = replacedPermissions(grants, chainId)
        const { swaps, transfers } = quoted
        const named = operationId === undefined ? {} : { operationId }
        const seen = madeFrom === undefined ? {} : { madeFrom }
        const batch: SwapBatch = { chainId, ...task.grant, replaced, swaps, transfers, ...seen, ...named }
        return { draft: { plan, batch, skips: [...chain.skips, ...quoted.skips] }, refused: quoted.refused }
      })

      // Selling for a transfer that is not made would only cost a fee, so the chain is planned without it.
      const withoutTransfers = Effect.fn("BatchDrafts.withoutTransfers")(function* (
        task: ChainTask,
        skips: ReadonlyArray<RecordedSkip>
      ) {
        const plan = yield* plans.withoutTransfers(task.context, task.plan.chain.chainId)
        const { draft: made } = yield* draft({ ...task, plan })
        return { ...made, skips: [...made.skips, ...skips] }
      })

      const quoted = Effect.fnUntraced(function* (task: ChainTask) {
        const { draft: made, refused } = yield* draft(task)
        if (refused.length === 0) return made
        return yield* withoutTransfers(
          task,
          refused.map(({ skip }) => skip)
        )
      })

      return BatchDrafts.of({ quoted, withoutTransfers })
    })
  ).pipe(Layer.provide([ChainQuotes.layer, PlanOfChain.layer]))
}
