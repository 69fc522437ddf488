/** Reads why a call reverted, out of the revert data. The text comes from contracts of others, so it is cut short. */
import { BaseError, decodeErrorResult, type Hex, parseAbi, slice } from "viem"
import { entryPointAbi, kernelAbi, routedSwapAbi, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { settlementRuleAbi, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

const longestReason = 300

/** Custom errors of token contracts (ERC-6093). */
const tokenErrors = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC20InvalidReceiver(address receiver)",
  "error ERC20InvalidSpender(address spender)"
])

const knownErrors = [
  ...entryPointAbi,
  ...kernelAbi,
  ...withdrawalExecutorAbi,
  ...routedSwapAbi,
  ...tradeGuardAbi,
  ...settlementRuleAbi,
  ...tokenErrors
]

const decode = (data: Hex) => {
  try {
    return decodeErrorResult({ abi: knownErrors, data })
  } catch (error) {
    if (error instanceof BaseError) return undefined
    throw error
  }
}

const describe = (data: Hex): string => {
  if (data === "0x") return "reverted without a reason"
  const error = decode(data)
  if (error === undefined) return `reverted with error ${data.length < 10 ? data : slice(data, 0, 4)}`
  const args = (error.args ?? []).map(String)
  const name: string = error.errorName
  return name === "Error" ? args.join() : `${name}(${args.join(", ")})`
}

/** The reason as text: of a failed operation the EntryPoint's code and, within it, the account's own error. */
export const revertReason = (data: Hex): string => {
  const error = data === "0x" ? undefined : decode(data)
  const reason =
    error?.errorName === "FailedOp"
      ? error.args[1]
      : error?.errorName === "FailedOpWithRevert"
        ? `${error.args[1]}: ${describe(error.args[2])}`
        : describe(data)
  return reason.slice(0, longestReason)
}
