/** The plan that a rebalance would make now, as it was shown before the rebalance. Amounts are raw units. */
import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import type { Preparation } from "#domain/rebalance/Preparation.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { unitsLimit } from "#domain/relay/Transaction.ts"
import { RecordedSkip } from "#domain/values/Skip.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { Swap } from "#domain/trading/Swap.ts"

/**
 * `trades`: these would be sent. `nothing`: nothing would, and the skips say why. `signature_required`: the owner must
 * sign first.
 */
export const PreviewOutcome = Schema.Literals(["trades", "nothing", "signature_required"])
export type PreviewOutcome = typeof PreviewOutcome.Type

export const PreviewedChain = Schema.Struct({
  chainId: ChainId,
  outcome: PreviewOutcome,
  swaps: Schema.Array(Swap),
  transfers: Schema.Array(OutgoingTransfer),
  skips: Schema.Array(RecordedSkip),
  /** Why the chain does not trade although it should; null otherwise. */
  reason: Schema.NullOr(Schema.String),
  /** Gas of the whole batch; null when nothing would be sent. The cost is null where the native asset has no price. */
  gas: Schema.NullOr(Schema.Struct({ limit: Schema.BigIntFromString, costUsd: Schema.NullOr(Schema.BigIntFromString) }))
})
export type PreviewedChain = typeof PreviewedChain.Type

export const PreviewedPlan = Schema.Struct({
  strategyVersion: Schema.Int,
  /** How far amounts and prices may move before it is another plan. */
  slippageBps: Schema.Int,
  chains: Schema.Array(PreviewedChain)
})
export type PreviewedPlan = typeof PreviewedPlan.Type

/** What the quote of a swap promised; its minimum, where that is not kept. */
export const expectedOf = ({ expectedBuyRaw, minBuyAmountRaw }: Swap): bigint => expectedBuyRaw ?? minBuyAmountRaw

/** A chain of a plan, as it was prepared for the preview. `costUsd` is that of its gas. */
export const previewedChain = (
  { chainId }: PlannedChain,
  preparation: Preparation,
  costUsd: bigint | null
): PreviewedChain => {
  const nothing = { chainId, swaps: [], transfers: [], gas: null, skips: preparation.skips }
  switch (preparation._tag) {
    case "Nothing":
      return { ...nothing, outcome: "nothing", reason: preparation.failure }
    case "Unsigned":
      return { ...nothing, outcome: "signature_required", reason: preparation.reason }
    case "Ready": {
      const { prepared, skips, swaps, transfers = [] } = preparation
      const gas = { limit: unitsLimit(prepared.cost), costUsd }
      return { chainId, outcome: "trades", swaps, transfers, skips, reason: null, gas }
    }
  }
}
