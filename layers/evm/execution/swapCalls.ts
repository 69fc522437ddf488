/**
 * The calls by which the account carries swaps out, on the venue or over a provider's route: for each an
 * exact allowance, then the swap.
 */
import { encodeAbiParameters, encodeFunctionData, erc20Abi, type Hex, pad, zeroAddress } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { ReadySwap, RouteCall } from "#domain/trading/Swap.ts"
import { addressOf, evmExecution, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { kernelAbi, routedSwapAbi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { routerCall, type SwapTerms } from "#layers/evm/venue/uniswapV2Calls.ts"

/** What is wrong with a swap's route under what the owner allowed; undefined when nothing is. */
export const routeFault = (swap: ReadySwap, allowed: EvmAddress | undefined): string | undefined => {
  const { call, direct } = evmExecution(swap)
  if (direct !== undefined) return "issuers trade through the trade guard alone"
  return call === undefined || call.contract === allowed
    ? undefined
    : `the owner allowed ${allowed ?? "no contract"} for routed swaps, not ${call.contract}`
}

const overRoute = (swap: ReadySwap, { contract, data }: RouteCall, deadline: bigint): Call => {
  const [, hub, ...last] = evmExecution(swap).path.map(toViem)
  const terms = {
    sell: toViem(addressOf(swap.sell)),
    amount: swap.sellAmountRaw,
    buy: toViem(addressOf(swap.buy)),
    minOut: swap.minBuyAmountRaw,
    hub: last.length === 0 ? zeroAddress : hub!,
    deadline
  }
  return {
    target: toViem(contract),
    data: encodeFunctionData({ abi: routedSwapAbi, functionName: "swap", args: [terms, data as Hex] })
  }
}

export const swapCalls = (swap: ReadySwap, terms: SwapTerms): ReadonlyArray<Call> => {
  const { call } = evmExecution(swap)
  const made = call === undefined ? routerCall(swap, terms) : overRoute(swap, call, terms.deadline)
  const args = [made.target, swap.sellAmountRaw] as const
  return [
    {
      target: toViem(addressOf(swap.sell)),
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args })
    },
    made
  ]
}

/** ERC-7579 mode of a batch that reverts whole when one of its calls does. */
const batchAllOrNothing = pad("0x01", { size: 32, dir: "right" })

const executions = [
  {
    type: "tuple[]",
    components: [
      { name: "target", type: "address" },
      { name: "value", type: "uint256" },
      { name: "callData", type: "bytes" }
    ]
  }
] as const

const execute = callDataOf(kernelAbi, "execute")

/** Calldata of the account's `execute` for the calls, without native value. Source: ERC-7579. */
export const executeBatch = (calls: ReadonlyArray<Call>): Hex =>
  execute(
    batchAllOrNothing,
    encodeAbiParameters(executions, [calls.map(({ data, target }) => ({ target, value: 0n, callData: data }))])
  )
