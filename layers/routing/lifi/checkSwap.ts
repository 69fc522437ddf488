/**
 * Whether a step of a swap matches the request exactly. Pure: a provider that is wrong, or taken over, gets no
 * signature.
 *
 * The call data is read, not trusted: one of the two functions of LI.FI's diamond that swap one ERC-20 token for
 * another, our contract as receiver, our tokens, the amount and no more, and the minimum amount that the step names.
 * Which pools the swap passes is LI.FI's business; that it yields enough is enforced on chain
 * (contracts/RoutedSwap.sol). Source: LI.FI's GenericSwapFacetV3.
 */
import { Result } from "effect"
import { decodeFunctionData, type DecodeFunctionDataReturnType, encodeFunctionData, type Hex, parseAbi } from "viem"
import type { SwapCall } from "#domain/trading/Routing.ts"
import { gasCostOf } from "#layers/routing/lifi/gasCostOf.ts"
import { descriptionFault, envelopeFault, type Expected, isSame } from "#layers/routing/lifi/stepFault.ts"
import type { LifiStep } from "#layers/routing/lifi/wire.ts"
import { addressOf } from "#layers/evm/address.ts"

/** What is called of LI.FI's diamond. Source: GenericSwapFacetV3 and LibSwap of LI.FI's contracts. */
export const lifiDiamondAbi = parseAbi([
  "struct SwapData { address callTo; address approveTo; address sendingAssetId; address receivingAssetId; uint256 fromAmount; bytes callData; bool requiresDeposit; }",
  "function swapTokensSingleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData swapData)",
  "function swapTokensMultipleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData[] swapData)"
])

/** Longest call data, in bytes: what it costs to publish grows with it. */
const longestData = 20_000

type Call = DecodeFunctionDataReturnType<typeof lifiDiamondAbi>

const decoded = (data: Hex): Call | undefined => {
  try {
    return decodeFunctionData({ abi: lifiDiamondAbi, data })
  } catch {
    return undefined
  }
}

/** Byte for byte what an honest encoder makes of the arguments, so that nothing else can be read out of it. */
const isCanonical = (call: Call, data: Hex) =>
  encodeFunctionData({ abi: lifiDiamondAbi, ...call } as never).toLowerCase() === data.toLowerCase()

/** What is wrong with the call data; undefined when nothing is. */
const callFault = (
  { account, amountRaw, buy, sell }: Expected,
  { estimate, transactionRequest }: LifiStep
): string | undefined => {
  const data = transactionRequest.data as Hex
  if (data.length > 2 + 2 * longestData) return `its call data is longer than ${longestData} bytes`
  const call = decoded(data)
  if (call === undefined) return "its transaction calls a function that is not allowed"
  const [, , , receiver, minOut, swapData] = call.args
  const swaps = Array.isArray(swapData) ? swapData : [swapData]
  const [first, last] = [swaps[0], swaps.at(-1)]
  if (first === undefined || last === undefined) return "its call swaps nothing"
  if (!isSame(receiver, account)) return "its call names another receiver"
  if (minOut !== BigInt(estimate.toAmountMin)) return "its call names another minimum amount than its estimate"
  const deposits = swaps.filter(({ requiresDeposit }) => requiresDeposit)
  if (deposits.some(({ sendingAssetId }) => !isSame(sendingAssetId, addressOf(sell))))
    return "its call takes another token"
  const taken = deposits.reduce((sum, { fromAmount }) => sum + fromAmount, 0n)
  if (taken !== amountRaw) return "its call takes another amount"
  if (!isSame(first.sendingAssetId, addressOf(sell))) return "its call sells another token"
  if (!isSame(last.receivingAssetId, addressOf(buy))) return "its call buys another token"
  return isCanonical(call, data) ? undefined : "its call contains more than its arguments"
}

/** The call. The failure says what is wrong with the step, as the end of a sentence. */
export const checkSwap = (expected: Expected, step: LifiStep): Result.Result<SwapCall, string> => {
  const fault =
    descriptionFault(expected, step) ?? envelopeFault(expected, step.transactionRequest) ?? callFault(expected, step)
  if (fault !== undefined) return Result.fail(fault)
  const { toAmount, toAmountMin } = step.estimate
  return Result.map(gasCostOf(step.estimate), (gasUsd) => ({
    tool: step.tool,
    expectedRaw: BigInt(toAmount),
    minRaw: BigInt(toAmountMin),
    gasUsd,
    data: step.transactionRequest.data
  }))
}
