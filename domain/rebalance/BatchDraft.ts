/** Batches for one chain of a run before they are simulated, and what is left out of them; pure. */
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { PlannedLeg } from "#domain/values/PlannedTrades.ts"
import type { ChainPlanOfRun } from "#domain/rebalance/plan/RunPlanner.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import { dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import type { SimulationFailed, SwapBatch } from "#domain/trading/SwapBatches.ts"
import { codeOfRefusal } from "#domain/trading/codeOfRefusal.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { cutBy } from "#domain/trading/quoteTransfer.ts"

/** Where quotes of swaps come from. */
export type QuoteSources = "venue" | "venue and routes"

/** What a run has to do on one chain. */
export interface PlannedWork {
  readonly context: PlanContext
  readonly plan: ChainPlanOfRun
  readonly sources: QuoteSources
}

/** Planned work with the grants under which it is done. */
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

/** A draft that the chain accepts; without operation when the draft has nothing to trade. */
export interface SimulatedDraft extends BatchDraft {
  readonly prepared: PreparedBatch | null
  /** The chain's error for a draft from which nothing could be kept; null otherwise. */
  readonly failure: string | null
}

export const isEmpty = ({ batch: { swaps, transfers = [] } }: BatchDraft): boolean =>
  swaps.length + transfers.length === 0

/**
 * The plan of a draft without the swaps whose price was not attested; what they would have yielded does not leave the
 * chain. Undefined when that is not what the chain refused, or when no swap is concerned.
 */
export const attestedPart = (
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

export const nothingOf = (draft: BatchDraft, { message }: SimulationFailed): SimulatedDraft => ({
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

export const swapSkip = ({ plan }: BatchDraft, swap: ReadySwap, refusal: SimulationFailed): RecordedSkip => {
  const leg = plan.chain.legs.find(isPair(swap))
  return simulationSkip(swap, shareOf(leg?.valueUsd, swap.sellAmountRaw, leg?.sellAmountRaw), refusal)
}

export const transferSkip = (
  { plan }: BatchDraft,
  transfer: OutgoingTransfer,
  refusal: SimulationFailed
): RecordedSkip => {
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
