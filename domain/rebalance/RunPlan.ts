/** A plan as a run remembers it: what to trade on each chain, under which limits, and what was left out. */
import { Schema } from "effect"
import { AssetId, ChainId } from "#domain/Caip.ts"
import { SkipCode } from "#domain/rebalance/Skip.ts"

export const PlannedLeg = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  /** US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What the feed's prices promise after the venue's fee. */
  expectedBuyRaw: Schema.BigIntFromString
})
export type PlannedLeg = typeof PlannedLeg.Type

export const RecordedSkip = Schema.Struct({
  assetId: Schema.NullOr(AssetId),
  sell: Schema.optionalKey(AssetId),
  buy: Schema.optionalKey(AssetId),
  code: Schema.Literals(Object.values(SkipCode)),
  valueUsd: Schema.NullOr(Schema.BigIntFromString),
  reason: Schema.String
})
export type RecordedSkip = typeof RecordedSkip.Type

export const PlannedTransfer = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  amountRaw: Schema.BigIntFromString,
  /** US dollars (wad). */
  valueUsd: Schema.BigIntFromString,
  /** What the feed's prices promise after the usual cost. */
  expectedRaw: Schema.BigIntFromString
})
export type PlannedTransfer = typeof PlannedTransfer.Type

export const PlannedChain = Schema.Struct({
  chainId: ChainId,
  legs: Schema.Array(PlannedLeg),
  /** What leaves the chain after the legs; left out by plans from before transfers. */
  transfers: Schema.optionalKey(Schema.Array(PlannedTransfer)),
  skips: Schema.Array(RecordedSkip)
})
export type PlannedChain = typeof PlannedChain.Type

export const RunPlan = Schema.Struct({
  strategyVersion: Schema.Int,
  /** When balances and prices were read. */
  plannedAt: Schema.DateTimeUtcFromMillis,
  limits: Schema.Struct({ slippageBps: Schema.Int, priceImpactBps: Schema.Int }),
  chains: Schema.Array(PlannedChain)
})
export type RunPlan = typeof RunPlan.Type
