/**
 * Whether a step is exactly what was asked for. Pure: a provider that is wrong, or taken over, gets no signature.
 *
 * The call data is not trusted but read: the one function that the owner allowed, with our own token, amount, destination
 * and recipient, and a floor that is at least ours. What is signed later is built anew from what was read here.
 */
import { decodeFunctionData, type Hex, isAddressEqual, isAddress } from "viem"
import { addressOf, chainIdOf, type EvmAddress } from "#domain/Caip.ts"
import type { Route, RouteRequest } from "#domain/routing/Routing.ts"
import { toViem } from "#layers/evm/address.ts"
import { bridgeAbi } from "#layers/evm/contracts.ts"
import { lockData } from "#layers/evm/execution/transferCalls.ts"
import type { LifiStep } from "#layers/routing/lifi/wire.ts"

const isSame = (text: string | undefined, address: EvmAddress): boolean =>
  text !== undefined && isAddress(text, { strict: false }) && isAddressEqual(text, toViem(address))

const decoded = (data: string) => {
  try {
    return decodeFunctionData({ abi: bridgeAbi, data: data as Hex })
  } catch {
    return undefined
  }
}

/** What is wrong with the description of the step; undefined when nothing is. */
const descriptionFault = (request: RouteRequest, { action, estimate }: LifiStep): string | undefined => {
  const account = addressOf(request.accountId)
  if (action.fromChainId !== chainIdOf(request.sell)) return "it starts on another chain"
  if (action.toChainId !== chainIdOf(request.buy)) return "it ends on another chain"
  if (!isSame(action.fromToken.address, addressOf(request.sell))) return "it sends another token"
  if (!isSame(action.toToken.address, addressOf(request.buy))) return "it delivers another token"
  if (action.fromAddress !== undefined && !isSame(action.fromAddress, account)) return "it sends from another account"
  if (!isSame(action.toAddress ?? action.fromAddress, account)) return "it delivers to another account"
  if (BigInt(action.fromAmount) !== request.amountRaw) return "it sends another amount"
  if (BigInt(estimate.fromAmount) !== request.amountRaw) return "it estimates another amount"
  if (!isSame(estimate.approvalAddress, request.bridge)) return "it asks for an allowance of another contract"
  if (BigInt(estimate.toAmountMin) < request.leastRaw) {
    return `it may deliver ${estimate.toAmountMin}, the least acceptable is ${request.leastRaw}`
  }
  return BigInt(estimate.toAmount) < BigInt(estimate.toAmountMin)
    ? "it expects less than its own least amount"
    : undefined
}

/** What is wrong with the transaction of the step; undefined when nothing is. */
const transactionFault = (
  { accountId, amountRaw, bridge, buy, sell }: RouteRequest,
  { estimate, transactionRequest }: LifiStep
): string | undefined => {
  const { chainId, data, from, to, value } = transactionRequest
  const account = addressOf(accountId)
  if (!isSame(to, bridge)) return "its transaction calls another contract"
  if (from !== undefined && !isSame(from, account)) return "its transaction is of another account"
  if (chainId !== undefined && chainId !== chainIdOf(sell)) return "its transaction is for another chain"
  if (BigInt(value ?? 0) !== 0n) return "its transaction sends native value"
  const call = decoded(data)
  if (call === undefined) return "its transaction calls a function that is not allowed"
  const [token, amount, destinationChainId, destinationToken, minOut, recipient] = call.args
  if (!isSame(token, addressOf(sell)) || amount !== amountRaw) return "its call takes another token or amount"
  if (destinationChainId !== BigInt(chainIdOf(buy))) return "its call names another destination chain"
  if (!isSame(destinationToken, addressOf(buy))) return "its call names another destination token"
  if (!isSame(recipient, account)) return "its call names another recipient"
  const leastRaw = BigInt(estimate.toAmountMin)
  if (minOut !== leastRaw) return "its call names another least amount than its estimate"
  const honest = lockData({ sell, buy, amountRaw, leastRaw }, account)
  return honest.toLowerCase() === data.toLowerCase() ? undefined : "its call carries more than its arguments"
}

/** The route, or what is wrong with the step, as the end of a sentence. */
export const checkStep = (request: RouteRequest, step: LifiStep): Route | string => {
  const fault = descriptionFault(request, step) ?? transactionFault(request, step)
  if (fault !== undefined) return fault
  const { executionDuration, toAmount, toAmountMin } = step.estimate
  return {
    tool: step.tool,
    leastRaw: BigInt(toAmountMin),
    expectedRaw: BigInt(toAmount),
    durationSeconds: Math.max(0, Math.ceil(executionDuration))
  }
}
