/** What a rebalance comes to on one chain; pure. */
import { type PlannedChain, plannedUsd } from "#domain/planning/PlannedChain.ts"
import type { LandedBatch, Ready } from "#domain/rebalance/Preparation.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import type { Setback } from "#domain/relay/ActionStep.ts"
import { failedReceipts } from "#domain/relay/ChainAction.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { chainSkip, dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"

/** The outcome of a chain whose batch was included, after attempts that moved nothing. */
export const batchOutcome = (
  chain: PlannedChain,
  { receipt, step }: Pick<Setback<Ready>, "step" | "receipt">,
  reverted: ReadonlyArray<ActionReceipt>
): ChainOutcome => {
  const { measures, transfers = [] } = step
  return {
    chainId: chain.chainId,
    receipt,
    ...effectOf(step, chain, receipt),
    ...(transfers.length === 0 ? {} : { transfers }),
    ...measured(measures),
    ...afterReverts(reverted)
  }
}

/** The outcome of a chain on which no batch took effect. */
export const outcomeAfter = (chain: PlannedChain, setbacks: ReadonlyArray<Setback<Ready>>): ChainOutcome => {
  const last = setbacks.at(-1)
  if (last !== undefined) return batchOutcome(chain, last, failedReceipts(setbacks.slice(0, -1)))
  const { chainId, measures, skips } = chain
  return { chainId, skips, swaps: [], receipt: null, failure: null, ...measured(measures) }
}

const measured = (measures: ChainOutcome["measures"]) => (measures === undefined ? {} : { measures })

const afterReverts = (reverted: ReadonlyArray<ActionReceipt>) => (reverted.length === 0 ? {} : { reverted })

/** What the batch did: of steps those that landed, and the others as skips. */
export const effectOf = (
  { skips, swaps }: Pick<Ready, "skips" | "swaps">,
  { legs }: PlannedChain,
  { isTakenBack, reason: revert, success, txHash, unmade = [] }: ActionReceipt
): Pick<ChainOutcome, "swaps" | "skips" | "failure"> => {
  const left = unmade.flatMap(({ isCancelled, reason, part }): ReadonlyArray<RecordedSkip> => {
    const swap = swaps[part]
    if (swap === undefined) return []
    const { buy, sell, sellAmountRaw } = swap
    const leg = legs.find((one) => one.buy === buy && one.sell === sell)
    const valueUsd = leg === undefined ? null : (leg.valueUsd * sellAmountRaw) / leg.sellAmountRaw
    const code = isCancelled ? SkipCode.cancelled : SkipCode.simulationFailed
    const amount = valueUsd === null ? "" : `; ${dollars(valueUsd)} are not traded`
    return [{ assetId: null, sell, buy, code, valueUsd, reason: `${reason}${amount}` }]
  })
  const reasons = [...new Set(unmade.map(({ reason }) => reason))].join("; ")
  const undone =
    isTakenBack === true
      ? `the swaps were taken back in ${txHash}, since gas cost more than they may`
      : `the swaps were reverted in ${txHash}${revert === undefined ? "" : `: ${revert}`}`
  const failure = unmade.length === 0 ? undone : `no swap was made: ${reasons}`
  return {
    swaps: swaps.filter((_, index) => !unmade.some(({ part }) => part === index)),
    skips: [...skips, ...left],
    failure: success ? null : failure
  }
}

/** What a chain comes to that was cancelled before its batch was signed; what landed there before moved nothing. */
export const cancelledOutcome = (
  chain: PlannedChain,
  {
    measures,
    reverted = [],
    skips
  }: Pick<ChainOutcome, "skips" | "reverted"> & { readonly measures?: ChainOutcome["measures"] | undefined }
): ChainOutcome => ({
  chainId: chain.chainId,
  skips: [...skips, cancelledSkip(chain)],
  swaps: [],
  receipt: null,
  failure: null,
  ...measured(measures),
  ...afterReverts(reverted)
})

export const cancelledSkip = (chain: PlannedChain): RecordedSkip =>
  chainSkip(
    SkipCode.cancelled,
    `the operation was cancelled before this was signed; ${dollars(plannedUsd(chain))} were to be traded`
  )

/** The outcome of a chain on which unrecorded trades landed; the recorded attempts moved nothing. */
export const unrecordedOutcome = (
  { chainId, measures, skips }: PlannedChain,
  { receipt, swaps }: LandedBatch,
  reverted: ReadonlyArray<ActionReceipt>
): ChainOutcome => ({
  chainId,
  skips,
  swaps,
  receipt,
  failure: null,
  ...measured(measures),
  ...afterReverts(reverted)
})

/** Another run waits for the owner on the chain already, or this one has in vain. */
export const unsignedSkip = (chain: PlannedChain, reason: string): RecordedSkip =>
  chainSkip(SkipCode.signatureRequired, `${reason}; ${dollars(plannedUsd(chain))} are to be traded`)
