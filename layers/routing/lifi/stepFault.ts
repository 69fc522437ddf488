/**
 * Whether the fields of a step, and of its transaction around the call data, match the request. Pure; the call data is
 * read by `checkStep` and `checkSwap`.
 */
import { isAddress, isAddressEqual } from "viem"
import { type AssetId, chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import type { LifiRouteStep, LifiStep } from "#layers/routing/lifi/wire.ts"

/** The request. */
export interface Expected {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly amountRaw: bigint
  /** The sender and the receiver. */
  readonly account: EvmAddress
  /** The only contract that may be called and may spend the amount. */
  readonly target: EvmAddress
}

export const isSame = (text: string | undefined, address: EvmAddress): boolean =>
  text !== undefined && isAddress(text, { strict: false }) && isAddressEqual(text, toViem(address))

/** What is wrong with the description of the step; undefined when nothing is. */
export const descriptionFault = (
  { account, amountRaw, buy, sell, target }: Expected,
  { action, estimate }: Pick<LifiRouteStep, "action" | "estimate">
): string | undefined => {
  if (action.fromChainId !== chainIdOf(sell)) return "it starts on another chain"
  if (action.toChainId !== chainIdOf(buy)) return "it ends on another chain"
  if (!isSame(action.fromToken.address, addressOf(sell))) return "it sends another token"
  if (!isSame(action.toToken.address, addressOf(buy))) return "it delivers another token"
  if (action.fromAddress !== undefined && !isSame(action.fromAddress, account)) return "it sends from another account"
  if (!isSame(action.toAddress ?? action.fromAddress, account)) return "it delivers to another account"
  if (BigInt(action.fromAmount) !== amountRaw) return "it sends another amount"
  if (BigInt(estimate.fromAmount) !== amountRaw) return "it estimates another amount"
  if (!isSame(estimate.approvalAddress, target)) return "it asks for an allowance of another contract"
  return BigInt(estimate.toAmount) < BigInt(estimate.toAmountMin)
    ? "it expects less than its own minimum amount"
    : undefined
}

/** What is wrong with the transaction around its call data; undefined when nothing is. */
export const envelopeFault = (
  { account, sell, target }: Expected,
  { chainId, from, to, value }: LifiStep["transactionRequest"]
): string | undefined => {
  if (!isSame(to, target)) return "its transaction calls another contract"
  if (from !== undefined && !isSame(from, account)) return "its transaction is of another account"
  if (chainId !== undefined && chainId !== chainIdOf(sell)) return "its transaction is for another chain"
  return BigInt(value ?? 0) === 0n ? undefined : "its transaction sends native value"
}
