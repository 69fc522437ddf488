/**
 * The calls by which the account carries swaps out, on a Uniswap v2 router or over a provider's route: for each an
 * exact allowance, then the swap.
 */
import { encodeAbiParameters, encodeFunctionData, erc20Abi, type Hex, pad, zeroAddress } from "viem"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ReadySwap, Swap } from "#domain/trading/Swap.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { kernelAbi, routedSwapAbi, routerAbi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

export interface SwapTerms {
  readonly account: EvmAddress
  readonly router: EvmAddress
  /** Seconds since 1970 by the chain's clock; a swap that is included later reverts. */
  readonly deadline: bigint
}

/** What is wrong with a swap's path; undefined when nothing is. */
export const pathFault = ({ buy, path, sell }: Swap): string | undefined => {
  if (path.length !== 2 && path.length !== 3) return `a path has two or three tokens, not ${path.length}`
  if (path[0] !== addressOf(sell) || path.at(-1) !== addressOf(buy))
    return "a path leads from the sold to the bought token"
  return undefined
}

/** What is wrong with a swap's route under what the owner allowed; undefined when nothing is. */
export const routeFault = ({ call, direct }: ReadySwap, allowed: EvmAddress | undefined): string | undefined =>
  direct !== undefined
    ? "issuers trade through the trade guard alone"
    : call === undefined || call.contract === allowed
      ? undefined
      : `the owner allowed ${allowed ?? "no contract"} for routed swaps, not ${call.contract}`

/** One hop and two hops are different functions of the router: the agent's permission has a rule set for each. */
const functionFor = (path: Swap["path"]) =>
  path.length === 2 ? "swapExactTokensForTokens" : "swapExactTokensForTokensSupportingFeeOnTransferTokens"

const onVenue = (swap: Swap, { account, deadline, router }: SwapTerms): Call => ({
  target: toViem(router),
  data: encodeFunctionData({
    abi: routerAbi,
    functionName: functionFor(swap.path),
    args: [swap.sellAmountRaw, swap.minBuyAmountRaw, swap.path.map(toViem), toViem(account), deadline]
  })
})

const overRoute = (swap: Swap, { contract, data }: NonNullable<ReadySwap["call"]>, deadline: bigint): Call => {
  const [, hub, ...last] = swap.path.map(toViem)
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
  const made = swap.call === undefined ? onVenue(swap, terms) : overRoute(swap, swap.call, terms.deadline)
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
