/** What one step of an action does on Solana, as an operation keeps it between its preparation and its signature. */
import { Schema } from "effect"
import { SplAssetId, WalletId } from "#domain/values/Caip.ts"
import { SignedWithdrawal } from "#domain/account/WithdrawalMessage.ts"
import { PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"

export const SwapStep = Schema.TaggedStruct("Swap", {
  place: PortfolioRole,
  sell: SplAssetId,
  buy: SplAssetId,
  sellRaw: Schema.BigIntFromString,
  /** The minimum amount out of the plan: nothing is signed that could yield less. */
  minBuyRaw: Schema.BigIntFromString,
  /** How far the planned quote is above the minimum. */
  slippageBps: Schema.Int
})
export type SwapStep = typeof SwapStep.Type

/** All that the owner signed, which is checked again before each signature of the agent. */
export const WithdrawStep = Schema.TaggedStruct("Withdraw", {
  place: PortfolioRole,
  owner: WalletId,
  /** The first line of the text that the owner signed. */
  title: Schema.String,
  ...SignedWithdrawal.fields
})
export type WithdrawStep = typeof WithdrawStep.Type

export const SolanaStep = Schema.Union([SwapStep, WithdrawStep])
export type SolanaStep = typeof SolanaStep.Type

const asText = Schema.fromJsonString(Schema.toCodecJson(SolanaStep))

export const encodeStep = Schema.encodeSync(asText)
export const decodeStep = Schema.decodeEffect(asText)
