/**
 * What an operation did, in one form for every kind: its outcome in a word, and what moved, what was left and what it
 * cost, chain by chain. It is stored with the terminal state and never changes.
 */
import { type DateTime, Schema } from "effect"
import { AssetId, ChainId, HeldAssetId } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { RecordedSkip, SkipCode } from "#domain/values/Skip.ts"

const Raw = Schema.BigIntFromString
/** US dollars (wad). */
const Usd = Schema.BigIntFromString

/**
 * `traded`: all that was to be done was done. `partly_traded`: something moved, and something was left. `skipped`:
 * something was to be done, and nothing moved. `nothing_to_do`: the portfolio is on target, or off it by less than a
 * trade is worth.
 */
export const OperationOutcome = Schema.Literals(["traded", "nothing_to_do", "skipped", "partly_traded"])
export type OperationOutcome = typeof OperationOutcome.Type

export const SwapResult = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  soldRaw: Raw,
  /** The minimum that it might yield. */
  minOutRaw: Raw,
  /** What it yielded; null when another swap of the batch bought the same asset. */
  receivedRaw: Schema.NullOr(Raw),
  /** What the venue kept of what was sold; null where it, or a provider's route, does not say. */
  feeRaw: Schema.NullOr(Raw),
  /** `venue`, the name of a venue that has one, or the provider's tool. */
  by: Schema.String
})
export type SwapResult = typeof SwapResult.Type

export const TransferResult = Schema.Struct({
  /** What left, and what was to arrive: another asset when the transfer is to another chain. */
  sell: HeldAssetId,
  buy: HeldAssetId,
  sentRaw: Raw,
  /** The minimum that might arrive. */
  minOutRaw: Raw,
  /** Null until it is known: the operation of kind `bridge` has it. */
  receivedRaw: Schema.NullOr(Raw),
  /** CAIP-10 of the recipient; null for the portfolio's own account on the other chain. */
  recipient: Schema.NullOr(Schema.String),
  /** The provider's name of the bridge; null for a plain transfer. */
  by: Schema.NullOr(Schema.String)
})
export type TransferResult = typeof TransferResult.Type

export const TransactionResult = Schema.Struct({
  txHash: Schema.String,
  /** Null where no user operation was included, as in a withdrawal. */
  userOpHash: Schema.NullOr(Schema.String),
  /** False when it was reverted, or can no longer land: nothing moved. */
  success: Schema.Boolean,
  /** Units of gas that count to this operation; null for a transaction of others. */
  gasUsed: Schema.NullOr(Raw),
  /** What the service paid for it; null where the price of the chain's native asset is not known. */
  gasUsd: Schema.NullOr(Usd)
})
export type TransactionResult = typeof TransactionResult.Type

export const ChainResult = Schema.Struct({
  chainId: ChainId,
  swaps: Schema.Array(SwapResult),
  transfers: Schema.Array(TransferResult),
  /** Every transaction that was tried, in order. */
  transactions: Schema.Array(TransactionResult),
  skips: Schema.Array(RecordedSkip),
  /** Why what was tried did not happen; null when it did. */
  failure: Schema.NullOr(Schema.String)
})
export type ChainResult = typeof ChainResult.Type

export const OperationResult = Schema.Struct({
  chains: Schema.Array(ChainResult),
  /** What the service paid for gas; null when a part of it is not known. */
  gasUsd: Schema.NullOr(Usd),
  /** Value of what was sold less value of what was received, at the plan's prices; null when a part is not known. */
  tradingUsd: Schema.NullOr(Usd)
})
export type OperationResult = typeof OperationResult.Type

/** What is off its target by less than a trade is worth: nothing is left undone. */
const atRest: ReadonlySet<SkipCode> = new Set([
  SkipCode.belowMinTrade,
  SkipCode.belowMinTransfer,
  SkipCode.withinBand,
  SkipCode.notWorthCost
])

/** Whether a skip leaves the portfolio as it should be. */
export const isAtRest = (code: SkipCode): boolean => atRest.has(code)

/** Why nothing or not all was done, by the first chain with a reason; null when all was. */
export const reasonOf = ({ outcome, result: { chains } }: OperationReport): string | null => {
  if (outcome === "traded") return null
  const skips = chains.flatMap((chain) => chain.skips)
  const failure = chains.find((chain) => chain.failure !== null)?.failure
  const first = skips.find(({ code }) => isAtRest(code) === (outcome === "nothing_to_do"))
  if (outcome === "nothing_to_do") return first?.reason ?? "Every asset is on its target"
  return failure ?? first?.reason ?? null
}

/** How an operation ended, as it is stored with its terminal state. */
export interface OperationReport {
  readonly outcome: OperationOutcome
  readonly result: OperationResult
}

/** How an operation ended, as its run records it. */
export interface OperationEnd {
  readonly operationId: OperationId
  readonly at: DateTime.Utc
  /** Null when it was carried out; otherwise why not. */
  readonly error: string | null
  /** It was cancelled, and something was left because of that. */
  readonly isCancelled?: boolean
  /** What it did, for every reader; left out when that is not known, and when a fault of ours ended it. */
  readonly ended?: OperationReport
}

/** A chain on which nothing has happened yet. */
export const emptyChain = (chainId: ChainId): ChainResult => ({
  chainId,
  swaps: [],
  transfers: [],
  transactions: [],
  skips: [],
  failure: null
})

/** Null as soon as one of them is not known. */
export const sumKnown = (amounts: ReadonlyArray<bigint | null>): bigint | null =>
  amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0n as bigint | null)

/** The result of chains whose trading cost is known; gas is what their transactions say. */
export const operationResult = (chains: ReadonlyArray<ChainResult>, tradingUsd: bigint | null): OperationResult => ({
  chains,
  gasUsd: sumKnown(chains.flatMap(({ transactions }) => transactions.flatMap(gasOf))),
  tradingUsd
})

const gasOf = ({ gasUsd, gasUsed }: TransactionResult): ReadonlyArray<bigint | null> =>
  gasUsed === null || gasUsed === 0n ? [] : [gasUsd]

/** A transfer of the portfolio's own to another chain, whose arrival is reported here or by its own operation. */
export const ownTransfer = (
  { amountRaw, buy, minRaw, sell, tool }: OutgoingAmounts,
  receivedRaw: bigint | null
): TransferResult => ({ sell, buy, sentRaw: amountRaw, minOutRaw: minRaw, receivedRaw, recipient: null, by: tool })

interface OutgoingAmounts {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly amountRaw: bigint
  readonly minRaw: bigint
  readonly tool: string
}
