/**
 * Whether a step matches the request exactly. Pure: a provider that is wrong, or taken over, gets no signature.
 *
 * The call data is not trusted but read: the one function that the owner allowed, with our own token, amount,
 * destination and recipient, and a minimum amount out that is at least ours. What is signed later is built anew from
 * what was read here.
 */
import { Result } from "effect"
import { decodeFunctionData, type Hex, pad } from "viem"
import { chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import type { Route, RouteRequest } from "#domain/trading/Routing.ts"
import { spokePoolAbi } from "#layers/evm/contracts.ts"
import { depositData } from "#layers/evm/execution/transferCalls.ts"
import { descriptionFault, envelopeFault } from "#layers/routing/lifi/stepFault.ts"
import type { LifiStep } from "#layers/routing/lifi/wire.ts"
import { addressOf, toEvm, toViem } from "#layers/evm/address.ts"

const decoded = (data: string) => {
  try {
    return decodeFunctionData({ abi: spokePoolAbi, data: data as Hex })
  } catch {
    return undefined
  }
}

/** What is wrong with the call data of the step; undefined when nothing is. */
const callFault = (
  { accountId, amountRaw, buy, sell }: RouteRequest,
  { estimate, transactionRequest: { data } }: LifiStep
): string | undefined => {
  const account = addressOf(accountId)
  const call = decoded(data)
  if (call === undefined) return "its transaction calls a function that is not allowed"
  const [depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, destinationChainId, ...rest] =
    call.args
  const isWordOf = (word: Hex, address: EvmAddress) => word.toLowerCase() === pad(toViem(address)).toLowerCase()
  if (!isWordOf(inputToken, addressOf(sell)) || inputAmount !== amountRaw)
    return "its call takes another token or amount"
  if (destinationChainId !== BigInt(chainIdOf(buy))) return "its call names another destination chain"
  if (!isWordOf(outputToken, addressOf(buy))) return "its call names another destination token"
  if (!isWordOf(recipient, account) || !isWordOf(depositor, account)) return "its call names another recipient"
  const minRaw = BigInt(estimate.toAmountMin)
  if (outputAmount !== minRaw) return "its call names another minimum amount than its estimate"
  const [, quotedAt, fillDeadline] = rest
  const honest = depositData({ sell, buy, amountRaw, minRaw }, account, { quotedAt, fillDeadline })
  return honest.toLowerCase() === data.toLowerCase() ? undefined : "its call contains more than its arguments"
}

/** The route. The failure says what is wrong with the step, as the end of a sentence. */
export const checkStep = (request: RouteRequest, step: LifiStep): Result.Result<Route, string> => {
  const { accountId, amountRaw, bridgeAddress, buy, minRaw, sell } = request
  const expected = { sell, buy, amountRaw, account: addressOf(accountId), target: toEvm(bridgeAddress) }
  const fault =
    descriptionFault(expected, step) ?? envelopeFault(expected, step.transactionRequest) ?? callFault(request, step)
  if (fault !== undefined) return Result.fail(fault)
  const { executionDuration, toAmount, toAmountMin } = step.estimate
  if (BigInt(toAmountMin) < minRaw) {
    return Result.fail(`it may deliver ${toAmountMin}, the minimum acceptable is ${minRaw}`)
  }
  return Result.succeed({
    tool: step.tool,
    minRaw: BigInt(toAmountMin),
    expectedRaw: BigInt(toAmount),
    durationSeconds: Math.max(0, Math.ceil(executionDuration))
  })
}
