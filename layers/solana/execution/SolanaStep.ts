/** What one step of an action does on Solana, as an operation keeps it between its preparation and its signature. */
import { Schema } from "effect"
import { SplAssetId } from "#domain/Caip.ts"
import { WalletPlace } from "#layers/solana/enrollment/Flow.ts"

export const SwapStep = Schema.TaggedStruct("Swap", {
  place: WalletPlace,
  sell: SplAssetId,
  buy: SplAssetId,
  sellRaw: Schema.BigIntFromString,
  /** The floor of the plan: nothing is signed that could yield less. */
  minBuyRaw: Schema.BigIntFromString,
  /** How far the planned quote is above the floor. */
  slippageBps: Schema.Int
})
export type SwapStep = typeof SwapStep.Type

export const SolanaStep = Schema.Union([SwapStep])
export type SolanaStep = typeof SolanaStep.Type

const asText = Schema.fromJsonString(Schema.toCodecJson(SolanaStep))

export const encodeStep = Schema.encodeSync(asText)
export const decodeStep = Schema.decodeEffect(asText)
