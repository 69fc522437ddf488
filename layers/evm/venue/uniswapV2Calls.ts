/**
 * How a swap is made on a Uniswap v2 router: its call, what the trade guard makes that call of, and what it may use.
 * The quotes are in quoteBatch.ts.
 */
import { type Address, concatHex, encodeFunctionData, type Hex } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { addressOf, evmExecution, toViem } from "#layers/evm/address.ts"
import { routerAbi } from "#layers/evm/contracts.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"

/** What a swap is made by. */
export interface SwapTerms {
  readonly account: EvmAddress
  readonly router: EvmAddress
  /** Seconds since 1970 by the chain's clock; a swap that is included later reverts. */
  readonly deadline: bigint
}

/** What is wrong with a swap's path; undefined when nothing is. */
export const pathFault = (swap: ReadySwap): string | undefined => {
  const { buy, sell } = swap
  const { path } = evmExecution(swap)
  if (path.length !== 2 && path.length !== 3) return `a path has two or three tokens, not ${path.length}`
  if (path[0] !== addressOf(sell) || path.at(-1) !== addressOf(buy))
    return "a path leads from the sold to the bought token"
  return undefined
}

/** One hop and two hops are different functions of the router: the agent's permission has a rule set for each. */
const functionFor = (path: ReadonlyArray<Address>) =>
  path.length === 2 ? "swapExactTokensForTokens" : "swapExactTokensForTokensSupportingFeeOnTransferTokens"

/** The router's call, by an account without a guard. */
export const routerCall = (swap: ReadySwap, { account, deadline, router }: SwapTerms): Call => {
  const path = evmExecution(swap).path.map(toViem)
  return {
    target: toViem(router),
    data: encodeFunctionData({
      abi: routerAbi,
      functionName: functionFor(path),
      args: [swap.sellAmountRaw, swap.minBuyAmountRaw, path, toViem(account), deadline]
    })
  }
}

/** The route of a guarded swap: the tokens between the two, by which the guard encodes the router's call itself. */
export const guardedRoute = (swap: ReadySwap): Hex =>
  concatHex(["0x", ...evmExecution(swap).path.slice(1, -1).map(toViem)])

const hopGas = 200_000n

/** Gas that the swap may use. */
export const pathGas = (swap: ReadySwap): bigint => hopGas * BigInt(evmExecution(swap).path.length - 1)
