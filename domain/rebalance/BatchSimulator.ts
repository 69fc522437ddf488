/**
 * Simulates a batch on its chain, and smaller ones while it fails: swaps of assets without the attested price that the
 * chain requires are left out, swaps over routes are made on the venue instead, then nothing leaves the chain, then
 * each swap is tried alone and those that fail are left out.
 */
import { Context, Effect, Layer } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type BatchDraft, BatchDrafts, type ChainTask } from "#domain/rebalance/BatchDrafts.ts"
import type { PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import { dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import { codeOfRefusal } from "#domain/trading/codeOfRefusal.ts"
import { type AuthorizationRequired, ChainExecution, type SimulationFailed } from "#domain/trading/ChainExecution.ts"
import type { ChainPlanOfRun } from "#domain/rebalance/plan/PlanOfChain.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { cutBy } from "#domain/trading/TransferQuotes.ts"

/** A draft that the chain accepts; without operation when the draft has nothing to trade. */
export interface SimulatedDraft extends BatchDraft {
  readonly prepared: PreparedBatch | null
  /** The chain's error for a draft from which nothing could be kept; null otherwise. */
  readonly failure: string | null
}

/** A draft that the chain does not accept as it is. */
interface Refused {
  readonly _tag: "Refused"
  readonly draft: BatchDraft
  readonly cause: SimulationFailed
}

type Outside = ChainUnavailable | AuthorizationRequired

/**
 * The most of a batch that the chain accepts now.
 *
 * **When to use**
 *
 * Use in `ChainBatches` alone.
 */
export class BatchSimulator extends Context.Service<
  BatchSimulator,
  {
    /** The most of the task that the chain accepts now. What it left out is in the skips. */
    readonly simulate: (task: ChainTask) => Effect.Effect<SimulatedDraft, Outside>
  }
>()("ballast/domain/rebalance/BatchSimulator") {
  static readonly layer = Layer.effect(
    BatchSimulator,
    Effect.gen(function* () {
      const drafts = yield* BatchDrafts
      const execution = yield* ChainExecution

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

      /** On the venue, which needs no provider to be right. */
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

      /** Those that pass alone, quoted anew: what is left out leaves no trace in their floors. */
      const eachAlone = Effect.fnUntraced(function* (task: ChainTask, { cause, draft }: Refused) {
        const { batch, plan } = draft
        const checked = yield* Effect.forEach(batch.swaps, (swap) =>
          execution.prepareForRun({ ...batch, swaps: [swap] }).pipe(
            Effect.as({ swap, skip: undefined }),
            Effect.catchTag("SimulationFailed", (refusal) =>
              Effect.succeed({ swap, skip: swapSkip(draft, swap, refusal) })
            )
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

      const simulate = Effect.fn("BatchSimulator.simulate")((task: ChainTask) =>
        made(task).pipe(
          Effect.catchTag("Refused", (refused) => onVenue(task, refused)),
          Effect.catchTag("Refused", (refused) => keepingAll(task, refused)),
          Effect.catchTag("Refused", (refused) => eachAlone(task, refused))
        )
      )

      return BatchSimulator.of({ simulate })
    })
  ).pipe(Layer.provide(BatchDrafts.layer))
}

const isEmpty = ({ batch: { swaps, transfers = [] } }: BatchDraft): boolean => swaps.length + transfers.length === 0

/**
 * The plan of a draft without the swaps whose price was not attested; what they would have yielded does not leave the
 * chain. Undefined when that is not what the chain refused, or when no swap is concerned.
 */
const attestedPart = (
  { batch: { swaps }, plan, skips }: BatchDraft,
  { unattested = [] }: SimulationFailed
): ChainPlanOfRun | undefined => {
  const reasonOf = ({ buy, sell }: Pick<ReadySwap, "sell" | "buy">) =>
    unattested.find(({ assetId }) => assetId === sell || assetId === buy)
  const legs = plan.chain.legs.filter((leg) => swaps.some(({ buy, sell }) => buy === leg.buy && sell === leg.sell))
  const left = legs.flatMap((leg) => {
    const refusal = reasonOf(leg)
    return refusal === undefined ? [] : [{ leg, refusal }]
  })
  if (left.length === 0) return undefined
  const { transfers = [] } = plan.chain
  const bridgeAsset = transfers[0]?.sell
  const missing = left.reduce((sum, { leg }) => sum + (leg.buy === bridgeAsset ? leg.expectedBuyRaw : 0n), 0n)
  const unmade = left.map(({ leg, refusal }): RecordedSkip => ({
    assetId: null,
    sell: leg.sell,
    buy: leg.buy,
    code: SkipCode.priceNotAttested,
    valueUsd: leg.valueUsd,
    reason: `${refusal.assetId}: ${refusal.reason}; ${dollars(leg.valueUsd)} are not traded`
  }))
  const kept = legs.filter((leg) => reasonOf(leg) === undefined)
  return {
    ...plan,
    chain: { ...plan.chain, legs: kept, transfers: cutBy(transfers, missing), skips: [...skips, ...unmade] }
  }
}

const nothingOf = (draft: BatchDraft, { message }: SimulationFailed): SimulatedDraft => ({
  ...draft,
  prepared: null,
  failure: message
})

/** A pair of which `valueUsd` is not traded; null where that is not known. */
const simulationSkip = ({ buy, sell }: Pair, valueUsd: bigint | null, refusal: SimulationFailed): RecordedSkip => ({
  assetId: null,
  sell,
  buy,
  code: codeOfRefusal(refusal),
  valueUsd,
  reason: valueUsd === null ? refusal.reason : `${refusal.reason}; ${dollars(valueUsd)} are not traded`
})

const swapSkip = ({ plan }: BatchDraft, swap: ReadySwap, refusal: SimulationFailed): RecordedSkip => {
  const leg = plan.chain.legs.find(isPair(swap))
  return simulationSkip(swap, shareOf(leg?.valueUsd, swap.sellAmountRaw, leg?.sellAmountRaw), refusal)
}

const transferSkip = ({ plan }: BatchDraft, transfer: OutgoingTransfer, refusal: SimulationFailed): RecordedSkip => {
  const planned = plan.chain.transfers?.find(isPair(transfer))
  return simulationSkip(transfer, shareOf(planned?.valueUsd, transfer.amountRaw, planned?.amountRaw), refusal)
}

type Pair = Pick<PlannedLeg, "sell" | "buy">

const isPair =
  (one: Pair) =>
  ({ buy, sell }: Pair) =>
    buy === one.buy && sell === one.sell

/** What of a planned amount is left undone is worth as much of the planned value. */
const shareOf = (valueUsd: bigint | undefined, partRaw: bigint, wholeRaw: bigint | undefined): bigint | null =>
  valueUsd === undefined || !wholeRaw ? null : (valueUsd * partRaw) / wholeRaw
