/** Reads why a call reverted, out of the revert data. The text comes from contracts of others, so it is cut short. */
import {
  type Abi,
  BaseError,
  decodeErrorResult,
  erc20Abi,
  type Hex,
  hexToString,
  isHex,
  size,
  slice,
  toFunctionSelector
} from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { type MarketFault, SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { routerAbi, spokePoolAbi, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { knownErrors } from "#layers/evm/revert/knownErrors.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

const longestReason = 300

/** How deep errors that contain the data of others are followed. */
const maxDepth = 4

/** What Solidity panics for. Source: its documentation, "Panic via assert and Error via require". */
const panics = new Map([
  [0x01n, "an assertion failed"],
  [0x11n, "a number is out of range"],
  [0x12n, "a division by zero"],
  [0x21n, "an enum has no such value"],
  [0x31n, "an empty array has nothing to take"],
  [0x32n, "an array has no such position"],
  [0x41n, "too much memory is asked for"],
  [0x51n, "a function that is not set is called"]
])

/** Names of the functions that calls of an account name, by their selectors. */
const functionNames = new Map(
  [erc20Abi, tradeGuardAbi, routerAbi, spokePoolAbi, withdrawalExecutorAbi].flatMap((abi: Abi) =>
    abi.flatMap((item) => (item.type === "function" ? [[toFunctionSelector(item), item.name] as const] : []))
  )
)

const decode = (data: Hex) => {
  try {
    return decodeErrorResult({ abi: knownErrors, data })
  } catch (error) {
    if (error instanceof BaseError) return undefined
    throw error
  }
}

/** Seconds that no calendar has stay a number: contracts of others may revert with these errors too. */
const timeOf = (seconds: bigint): string =>
  seconds < 253_402_300_800n ? new Date(Number(seconds) * 1_000).toISOString() : String(seconds)

/** Text that a contract reverted with as bare bytes, as some do without a custom error. */
const bareText = (data: Hex): string | undefined => {
  const text = hexToString(data).replaceAll("\0", "").trim()
  return /^[\x20-\x7E]{4,}$/u.test(text) ? text : undefined
}

const argument = (value: unknown, depth: number): string => {
  if (!isHex(value)) return String(value)
  const called = size(value) === 4 ? functionNames.get(value.toLowerCase() as Hex) : undefined
  if (called !== undefined) return called
  // Errors that pass on what another contract reverted with.
  return size(value) >= 4 && (size(value) - 4) % 32 === 0 && decode(value) !== undefined
    ? describe(value, depth + 1)
    : value
}

const describe = (data: Hex, depth = 0): string => {
  if (data === "0x" || depth > maxDepth) return "reverted without a reason"
  const error = decode(data)
  if (error === undefined) {
    const text = bareText(data)
    if (text !== undefined) return text
    return size(data) < 4
      ? `reverted with ${data}, which is no error`
      : `reverted with an error of a contract that this service does not know (${slice(data, 0, 4)}, by its selector)`
  }
  switch (error.errorName) {
    case "Error":
      return error.args[0]
    case "Panic":
      return `Panic: ${panics.get(error.args[0]) ?? `code ${error.args[0]}`}`
    case "StalePrice":
      return `StalePrice(${error.args[0]}): the chain's price feed of this token was last updated at ${timeOf(error.args[1])}, which the trade guard takes for too old`
    case "SequencerDown":
      return error.args[0] === 0n
        ? `SequencerDown: the chain's sequencer has been up again since ${timeOf(error.args[1])} only, and its prices are not taken yet`
        : "SequencerDown: the chain's sequencer is down, and its prices are not taken"
    default: {
      const args = (error.args ?? []).map((value) => argument(value, depth))
      return `${error.errorName}(${args.join(", ")})`
    }
  }
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

/** A fault of the chain's prices, and not of what was asked for. */
const marketFaultIn = (reason: string): MarketFault | undefined =>
  /\bStalePrice\(/u.test(reason) ? "feed_stale" : /\bSequencerDown\b/u.test(reason) ? "sequencer_down" : undefined

/** The chain's refusal of an operation, for a reason that was read here. */
export const refusedSimulation = (chainId: ChainId, reason: string): SimulationFailed => {
  const marketFault = marketFaultIn(reason)
  return new SimulationFailed({ chainId, reason, ...(marketFault === undefined ? {} : { marketFault }) })
}
