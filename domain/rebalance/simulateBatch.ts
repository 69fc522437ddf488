/**
 * Simulates a batch on its chain, and smaller ones while it fails: swaps of assets without the attested price that the
 * chain requires are left out, swaps over routes are made on the venue instead, then nothing leaves the chain, then
 * each swap is tried alone and those that fail are left out.
 */
import { Effect } from "effect"
import { replacedPermissions } from "#domain/account/Grant.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import {
  attestedPart,
  type BatchDraft,
  type ChainTask,
  isEmpty,
  nothingOf,
  type SimulatedDraft,
  swapSkip,
  transferSkip
} from "#domain/rebalance/BatchDraft.ts"
import { planWithoutTransfers, RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import {
  type AuthorizationRequired,
  SwapBatches,
  type SimulationFailed,
  type SwapBatch
} from "#domain/trading/SwapBatches.ts"
import { ChainQuotes } from "#domain/trading/ChainQuotes.ts"

/** A draft that the chain does not accept as it is. */
interface Refused {
  readonly _tag: "Refused"
  readonly draft: BatchDraft
  readonly cause: SimulationFailed
}

type Outside = ChainUnavailable | AuthorizationRequired

/** Batches with fresh quotes, not yet simulated. */
const makeDrafts = Effect.gen(function* () {
  const quotes = yield* ChainQuotes
  const planner = yield* RunPlanner

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
  const withoutTransfers = Effect.fnUntraced(function* (task: ChainTask, skips: ReadonlyArray<RecordedSkip>) {
    const plan = yield* planWithoutTransfers(planner, task.context, task.plan.chain.chainId)
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

  return { quoted, withoutTransfers }
})

/** The most of a task that the chain accepts now. What it left out is in the skips. */
export const makeSimulateBatch = Effect.gen(function* () {
  const drafts = yield* makeDrafts
  const execution = yield* SwapBatches

  const attempt = (task: ChainTask, draft: BatchDraft): Effect.Effect<SimulatedDraft, Refused | Outside> =>
    isEmpty(draft)
      ? Effect.succeed({ ...draft, prepared: null, failure: null })
      : execution.prepareForRun(draft.batch).pipe(
          Effect.map((prepared) => ({ ...draft, prepared, failure: null })),
          Effect.catchTag("SimulationFailed", (cause) => {
            const attested = attestedPart(draft, cause)
            if (attested === undefined) return Effect.fail<Refused>({ _tag: "Refused", draft, cause })
            const left = { chainId: draft.batch.chainId, code: SkipCode.priceNotAttested, reason: cause.reason }
            return Effect.andThen(
              Effect.logWarning("Swaps are left out: a price is not attested", left),
              made({ ...task, plan: attested })
            )
          })
        )

  /** The task, quoted now. */
  const made = (task: ChainTask): Effect.Effect<SimulatedDraft, Refused | Outside> =>
    Effect.flatMap(drafts.quoted(task), (draft) => attempt(task, draft))

  /** Makes the swaps on the venue, which needs no provider to be right. */
  const onVenue = Effect.fnUntraced(function* (task: ChainTask, refused: Refused) {
    if (!refused.draft.batch.swaps.some(({ tool }) => tool !== undefined)) return yield* Effect.fail(refused)
    yield* Effect.logWarning(`Routed swaps were refused, the venue makes them instead: ${refused.cause.message}`)
    return yield* made({ ...task, sources: "venue" })
  })

  const keepingAll = Effect.fnUntraced(function* (task: ChainTask, refused: Refused) {
    const { transfers = [] } = refused.draft.batch
    if (transfers.length === 0) return yield* Effect.fail(refused)
    const skips = transfers.map((transfer) => transferSkip(refused.draft, transfer, refused.cause))
    const onlyVenue: ChainTask = { ...task, sources: "venue" }
    const kept = yield* drafts.withoutTransfers(onlyVenue, skips)
    return yield* attempt(onlyVenue, kept)
  })

  /** Those that pass alone, quoted anew: what is left out leaves no trace in their minimums. */
  const eachAlone = Effect.fnUntraced(function* (task: ChainTask, { cause, draft }: Refused) {
    const { batch, plan } = draft
    const checked = yield* Effect.forEach(batch.swaps, (swap) =>
      execution.prepareForRun({ ...batch, swaps: [swap] }).pipe(
        Effect.as({ swap, skip: undefined }),
        Effect.catchTag("SimulationFailed", (refusal) => Effect.succeed({ swap, skip: swapSkip(draft, swap, refusal) }))
      )
    )
    const swaps = checked.flatMap(({ skip, swap }) => (skip === undefined ? [swap] : []))
    const skips = [...draft.skips, ...checked.flatMap(({ skip }) => (skip === undefined ? [] : [skip]))]
    const less = { ...draft, skips, batch: { ...batch, swaps } }
    // When all pass alone and fail together, none of them is known to be at fault.
    if (swaps.length === 0 || swaps.length === batch.swaps.length) return nothingOf(less, cause)
    // Of a leg over several paths all must pass.
    const isLost = (leg: PlannedLeg) =>
      checked.some(({ skip, swap }) => skip !== undefined && swap.buy === leg.buy && swap.sell === leg.sell)
    const legs = plan.chain.legs.filter(
      (leg) => !isLost(leg) && swaps.some(({ buy, sell }) => buy === leg.buy && sell === leg.sell)
    )
    const rest: ChainTask = { ...task, sources: "venue", plan: { ...plan, chain: { ...plan.chain, legs, skips } } }
    return yield* Effect.catchTag(made(rest), "Refused", (refused) =>
      Effect.succeed(nothingOf(refused.draft, refused.cause))
    )
  })

  return Effect.fn("simulateBatch")((task: ChainTask) =>
    made(task).pipe(
      Effect.catchTag("Refused", (refused) => onVenue(task, refused)),
      Effect.catchTag("Refused", (refused) => keepingAll(task, refused)),
      Effect.catchTag("Refused", (refused) => eachAlone(task, refused))
    )
  )
})
