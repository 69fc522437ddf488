/** What a plan does on one chain, as a run stores it. */
import { Schema } from "effect"
import { AccountMoment } from "#domain/values/AccountMoment.ts"
import { ChainId } from "#domain/values/Caip.ts"
import { PolicyMeasures } from "#domain/planning/PolicyMeasures.ts"
import { PlannedLeg, PlannedTransfer } from "#domain/values/PlannedTrades.ts"
import { RecordedSkip } from "#domain/values/Skip.ts"

export const PlannedChain = Schema.Struct({
  chainId: ChainId,
  /**
   * Legs in execution order. An asset is only ever sold or only ever bought, so no leg needs what another one yields,
   * and a leg that fails leaves the others valid.
   */
  legs: Schema.Array(PlannedLeg),
  /** What leaves the chain after the legs. A chain that sends does not receive. Left out where nothing does. */
  transfers: Schema.optionalKey(Schema.Array(PlannedTransfer)),
  skips: Schema.Array(RecordedSkip),
  /** The account as it was read; left out where it was not. */
  madeFrom: Schema.optionalKey(AccountMoment),
  /** The figures by which the policy was followed; left out without one. */
  measures: Schema.optionalKey(PolicyMeasures)
})
export type PlannedChain = typeof PlannedChain.Type

/** What is to be sold and sent on the chain, US dollars (wad). */
export const plannedUsd = ({ legs, transfers = [] }: Pick<PlannedChain, "legs" | "transfers">): bigint =>
  [...legs, ...transfers].reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
