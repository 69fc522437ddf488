/** What a finished run did: each chain's swaps as the chain confirmed them, and each skip. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { PolicyMeasures } from "#domain/planning/PolicyMeasures.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { Slices } from "#domain/rebalance/retryDelay.ts"
import { Swap } from "#domain/trading/Swap.ts"
import { RecordedSkip } from "#domain/values/Skip.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"

export const ChainOutcome = Schema.Struct({
  chainId: ChainId,
  /** The swaps that were sent; empty when there was nothing to trade or nothing could be. */
  swaps: Schema.Array(Swap),
  /** What was sent to other chains in the same operation. */
  transfers: Schema.optionalKey(Schema.Array(OutgoingTransfer)),
  skips: Schema.Array(RecordedSkip),
  /** The figures by which the policy was followed; left out without one. */
  measures: Schema.optionalKey(PolicyMeasures),
  /** The receipt of the operation that landed; null when none did. */
  receipt: Schema.NullOr(ActionReceipt),
  /** Receipts of attempts before it that moved nothing, in order; left out when there were none. */
  reverted: Schema.optionalKey(Schema.Array(ActionReceipt)),
  /** Why swaps that were planned did not happen; null when all that were tried did. */
  failure: Schema.NullOr(Schema.String)
})
export type ChainOutcome = typeof ChainOutcome.Type

export const RunReport = Schema.Struct({ strategyVersion: Schema.Int, chains: Schema.Array(ChainOutcome) })
export type RunReport = typeof RunReport.Type

/** A chain that waited in vain for its owner. */
const isUnsigned = ({ failure, skips }: ChainOutcome): boolean =>
  failure !== null && skips.some(({ code }) => code === SkipCode.signatureRequired)

/** A chain on which something was left because the run was cancelled. */
export const isCancelled = ({ skips }: ChainOutcome): boolean => skips.some(({ code }) => code === SkipCode.cancelled)

/** What may be possible a minute later: an outside service did not answer. */
const passing: ReadonlySet<SkipCode> = new Set([
  SkipCode.chainUnavailable,
  SkipCode.pricesUnavailable,
  SkipCode.routesUnavailable
])

/** What was read and is left all the same: prices become fresh or are attested, and pools take the next slice. */
const toBeContinued: ReadonlySet<SkipCode> = new Set([SkipCode.stalePrice, SkipCode.priceNotAttested, SkipCode.sliced])

/**
 * Whether the portfolio is to be checked again soon: a part of it was not read, quoted or sent, or waits for its
 * market.
 */
export const isIncomplete = (chains: ReadonlyArray<ChainOutcome>): boolean =>
  chains.some(({ skips }) => skips.some(({ code }) => passing.has(code) || toBeContinued.has(code)))

const sumOf = (values: ReadonlyArray<bigint>): bigint => values.reduce((sum, value) => sum + value, 0n)

/**
 * How a trade in slices stands after a run of the plan; undefined where there is none, or where anything else is
 * missing that later runs may get.
 */
export const slicesOf = (
  plan: Pick<RunPlan, "limits" | "chains">,
  chains: ReadonlyArray<ChainOutcome>
): Slices | undefined => {
  const missing = chains.flatMap(({ skips }) =>
    skips.filter(({ code }) => passing.has(code) || toBeContinued.has(code))
  )
  if (missing.length === 0 || missing.some(({ code }) => code !== SkipCode.sliced)) return undefined
  const further = chains.flatMap(({ chainId, receipt, skips, swaps }) => {
    if (receipt?.success !== true) return []
    const legs = plan.chains.find((planned) => planned.chainId === chainId)?.legs ?? []
    return skips.flatMap(({ buy, code, sell, valueUsd }) => {
      const leg = legs.find((one) => one.sell === sell && one.buy === buy)
      if (code !== SkipCode.sliced || leg === undefined || valueUsd === null) return []
      const isOfLeg = (swap: Swap) => swap.sell === sell && swap.buy === buy
      const soldRaw = sumOf(swaps.filter(isOfLeg).map(({ sellAmountRaw }) => sellAmountRaw))
      const madeUsd = (leg.valueUsd * soldRaw) / leg.sellAmountRaw
      return madeUsd <= 0n ? [] : [Number((valueUsd + madeUsd - 1n) / madeUsd)]
    })
  })
  if (further.length > 0) return { left: Math.max(...further) }
  return (plan.limits.slicing?.sold.length ?? 0) > 0 ? { left: 0 } : undefined
}

/** Why a chain did not get what it needs; null when it did, or needs nothing. */
const faultOf = ({ failure, skips }: ChainOutcome): string | null =>
  failure ?? skips.find(({ code }) => passing.has(code))?.reason ?? null

/**
 * The error text of a run, or null when it completed: a run fails when something was to be read or traded and nothing
 * landed anywhere, and when its owner did not sign in time. Any other chain that could not trade beside one that did is
 * in the report.
 */
export const failureOf = (chains: ReadonlyArray<ChainOutcome>): string | null => {
  const faults = chains.flatMap((chain) => {
    const fault = faultOf(chain)
    return fault === null ? [] : [`chain ${chain.chainId}: ${fault}`]
  })
  const landed = chains.some(({ receipt }) => receipt?.success === true)
  return faults.length > 0 && (!landed || chains.some(isUnsigned)) ? faults.join("; ") : null
}
