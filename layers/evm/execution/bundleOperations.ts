/**
 * Several user operations as one `handleOps` that passes simulation.
 *
 * `handleOps` reverts as a whole when one operation does not validate, and names it (`FailedOp`). That one is left out
 * and the others are simulated again. Source: ERC-4337 (EntryPoint 0.7).
 */
import { Effect } from "effect"
import { type Address, decodeErrorResult, getAbiItem, type Hex, toFunctionSelector } from "viem"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Bundle } from "#domain/relay/UserOperations.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { arrayWords, numberWord } from "#layers/evm/rpc/abiWords.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

type Operations = readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]

/** What the simulation adds around the transaction. */
const simulationOverhead = 1_000_000n

const handleOps = toFunctionSelector(getAbiItem({ abi: entryPointAbi, name: "handleOps" }))
/** `handleOps` begins with where its operations are; who is paid for them comes in the word between. */
const head = `${handleOps}${numberWord(2 * 32)}`
const ofOne = numberWord(1) + numberWord(32)

/** The words of the one operation in a call of `handleOps`, and the word of who is paid. */
const partsOf = ({ callData }: PreparedTransaction) => {
  const [paid, begin] = [head.length, head.length + 64]
  if (!callData.startsWith(head) || !callData.startsWith(ofOne, begin))
    throw new Error(`Only user operations share a transaction, not ${callData.slice(0, 10)}`)
  return { beneficiary: callData.slice(paid, begin), operation: callData.slice(begin + ofOne.length) }
}

const largest = (values: ReadonlyArray<bigint>) => values.reduce((most, value) => (value > most ? value : most))
const smallest = (values: ReadonlyArray<bigint>) => values.reduce((least, value) => (value < least ? value : least))

/** One transaction that includes them all, offers what the dearest of them offers, and may use what all of them may. */
export const combined = (operations: Operations): PreparedTransaction => {
  const [first, ...others] = operations
  if (others.length === 0) return first
  const parts = operations.map(partsOf)
  return {
    ...first,
    callData: head + parts[0]!.beneficiary + arrayWords(parts.map(({ operation }) => operation)),
    gasLimit: operations.reduce((sum, { gasLimit }) => sum + gasLimit, 0n),
    maxFeePerGas: largest(operations.map(({ maxFeePerGas }) => maxFeePerGas)),
    maxPriorityFeePerGas: largest(operations.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)),
    fromBlock: smallest(operations.map(({ fromBlock }) => fromBlock))
  }
}

/** The position of the operation that makes the whole fail; undefined when the revert does not blame one. */
const culpritOf = (revert: Hex): number | undefined => {
  try {
    const error = decodeErrorResult({ abi: entryPointAbi, data: revert })
    return error.errorName === "FailedOp" || error.errorName === "FailedOpWithRevert"
      ? Number(error.args[0])
      : undefined
  } catch {
    return undefined
  }
}

/** The revert data of the transaction; undefined when the chain would accept it. */
const refusal = Effect.fnUntraced(function* ({ callData, chainId, gasLimit }: PreparedTransaction, from: Address) {
  const [handled] = yield* multicall(chainId, [{ target: entryPoint, data: callData as Hex }], {
    from,
    gas: gasLimit + simulationOverhead
  })
  return handled!.success ? undefined : handled!.data
})

/** Simulates at most once for each operation, as each refusal removes one. */
export const bundleOperations = Effect.fnUntraced(function* (operations: Operations, relayer: Address) {
  let kept = operations.map((_, index) => index)
  for (;;) {
    const [first, ...others] = kept.map((index) => operations[index]!)
    if (first === undefined) return { transaction: operations[0], kept } satisfies Bundle
    const transaction = combined([first, ...others])
    const revert = yield* refusal(transaction, relayer)
    if (revert === undefined) return { transaction, kept } satisfies Bundle
    const culprit = culpritOf(revert)
    if (culprit === undefined || culprit >= kept.length) {
      return yield* new ChainUnavailable({
        chainId: transaction.chainId,
        reason: `a transaction of ${kept.length} user operations was refused without naming one (${revertReason(revert)})`
      })
    }
    yield* Effect.logWarning(
      `User operation ${operations[kept[culprit]!]!.actionHash} is left out of a transaction on chain ${transaction.chainId}: ${revertReason(revert)}`
    )
    kept = kept.filter((_, position) => position !== culprit)
  }
})
