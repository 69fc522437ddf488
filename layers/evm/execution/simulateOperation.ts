/**
 * Proves before anything is paid that a signed operation validates, that its swaps take effect, and, when it settles,
 * that the recipient gets what they yield.
 *
 * `handleOps` does not revert when the calls inside an operation do, so its success does not prove theirs. One
 * `eth_call` therefore reads the account's balances before and after `handleOps` and compares; it needs no method
 * beyond what every node offers. When they are not as they should be, a second one repeats the calls alone behind it,
 * from the EntryPoint, to learn why they failed. Calls that no balance shows are tried alone, and once more with
 * exactly the gas that the operation gives them.
 */
import { Effect } from "effect"
import { type Address, erc20Abi, type Hex } from "viem"
import type { AssetId, ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type LiquidationPayout } from "#domain/trading/SwapBatches.ts"
import { type Swap } from "#domain/trading/Swap.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { addressOf, toEvm, toViem } from "#layers/evm/address.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { entryPoint } from "#layers/evm/contracts.ts"
import { callWithinLimit } from "#layers/evm/execution/callWithinLimit.ts"
import { refusedSimulation, revertReason } from "#layers/evm/revert/revertReason.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { resultsOfReverted, revertedCalls, type Simulation } from "#layers/evm/execution/batchedSimulations.ts"
import { uintOf } from "#layers/evm/rpc/multicall.ts"

export interface OperationToSimulate {
  readonly chainId: ChainId
  readonly account: EvmAddress
  readonly relayer: Address
  /** Calldata of `handleOps` with the one operation. */
  readonly handleOps: Hex
  /** Calldata of the account's `execute` within it. */
  readonly execute: Hex
  readonly swaps: ReadonlyArray<Swap>
  readonly transfers?: ReadonlyArray<OutgoingTransfer> | undefined
  readonly settlement?: LiquidationPayout | undefined
  /** It has calls whose success no change of a balance shows. */
  readonly hasCalls?: boolean
  /** Gas of the transaction, and of the calls within it. */
  readonly transactionGas: bigint
  readonly callGasLimit: bigint
  /** The block at which the account was read: what is of an earlier one says nothing. */
  readonly notBefore: bigint
}

/** Reading balances and passing the calls on, beside the transaction and what is repeated of it. */
const simulationOverhead = 1_000_000n

interface Change {
  readonly holder: EvmAddress
  readonly assetId: AssetId
  readonly least: bigint
}

/** The minimum change of each balance that the swaps, and the settlement after them, must bring about together. */
const minChanges = ({ account, settlement, swaps, transfers = [] }: OperationToSimulate): ReadonlyArray<Change> => {
  const changes = new Map<string, Change>()
  const add = (holder: EvmAddress, assetId: AssetId, change: bigint) => {
    const key = `${holder} ${assetId}`
    changes.set(key, { holder, assetId, least: (changes.get(key)?.least ?? 0n) + change })
  }
  for (const { buy, minBuyAmountRaw, sell, sellAmountRaw } of swaps) {
    add(account, sell, -sellAmountRaw)
    add(settlement === undefined ? account : addressOf(settlement.message.recipientAccountId), buy, minBuyAmountRaw)
  }
  for (const { amountRaw, bridgeAddress, sell } of transfers) {
    add(account, sell, -amountRaw)
    add(toEvm(bridgeAddress), sell, amountRaw)
  }
  if (settlement !== undefined) {
    // What was signed of the settlement asset itself is handed over without a sale.
    const { assetId, message } = settlement
    const given = BigInt(message.assets.find((asset) => asset.assetId === assetId)?.amountRaw ?? 0)
    add(account, assetId, -given)
    add(addressOf(message.recipientAccountId), assetId, given)
  }
  return [...changes.values()]
}

type Simulate<R> = (simulation: Simulation) => Effect.Effect<ReadonlyArray<CallResult>, ChainUnavailable, R>

/** Why the calls of an operation fail that the EntryPoint includes: what they say when nothing catches it. */
const reasonOfRepeat = Effect.fnUntraced(function* <R>(operation: OperationToSimulate, simulate: Simulate<R>) {
  const { callGasLimit, chainId, execute, handleOps, notBefore, relayer, transactionGas } = operation
  const results = yield* simulate({
    chainId,
    notBefore,
    from: relayer,
    gas: transactionGas + callGasLimit + simulationOverhead,
    // Multicall3 runs as the EntryPoint, so that the account accepts the call.
    calls: [
      { target: entryPoint, data: handleOps },
      revertedCalls([{ target: toViem(operation.account), data: execute }])
    ]
  })
  const [result] = (results[1] && resultsOfReverted(results[1])) ?? []
  const unknown = "the swaps have no effect within their gas limit, or yield less than their minimum"
  return result === undefined || result.success ? unknown : revertReason(result.data)
})

/**
 * The EntryPoint's codes for an account that is deployed already and for a nonce that is used: another operation was
 * included since the account was read, or nodes behind one endpoint are not at the same block. Prepared anew it may
 * pass.
 */
const overtaken = /^AA(?:10|25)\b/u

const balanceOf = callDataOf(erc20Abi, "balanceOf")

/** Fails with the chain's reason when the operation would be refused or would not have the effect of its swaps. */
export const simulateOperation = Effect.fnUntraced(function* <R>(
  operation: OperationToSimulate,
  simulate: Simulate<R>
) {
  const { chainId } = operation
  const account = toViem(operation.account)
  const changes = minChanges(operation)
  const balances = changes.map(({ assetId, holder }): Call => ({
    target: toViem(addressOf(assetId)),
    data: balanceOf(toViem(holder))
  }))
  const results = yield* simulate({
    chainId,
    notBefore: operation.notBefore,
    from: operation.relayer,
    gas: operation.transactionGas + (operation.hasCalls === true ? operation.callGasLimit : 0n) + simulationOverhead,
    calls: [
      ...balances,
      // Before as well, where nothing else shows that the calls succeed: the account is deployed then.
      ...(operation.hasCalls === true ? [revertedCalls([{ target: account, data: operation.execute }])] : []),
      { target: entryPoint, data: operation.handleOps },
      ...balances
    ]
  })
  const tried = operation.hasCalls === true ? [results[balances.length]] : []
  const at = balances.length + tried.length
  const handled = results[at]
  if (handled?.success !== true) {
    const reason = revertReason(handled?.data ?? "0x")
    return yield* overtaken.test(reason)
      ? new ChainUnavailable({ chainId, reason: `the account changed while its operation was built (${reason})` })
      : refusedSimulation(chainId, reason)
  }
  const actual = changes.map((_, index) => {
    const before = uintOf(results[index])
    const after = uintOf(results[at + 1 + index])
    return before === null || after === null ? null : after - before
  })
  if (operation.hasCalls === true) {
    const [result] = (tried[0] && resultsOfReverted(tried[0])) ?? []
    if (result?.success === false) return yield* refusedSimulation(chainId, revertReason(result.data))
    // With all the gas of the simulation they pass; what is sent has less.
    const limited = result !== undefined && (yield* callWithinLimit(operation))
    if (limited === true) return
    return yield* refusedSimulation(
      chainId,
      `the calls use more than the ${operation.callGasLimit} gas that an execution of as many calls may use`
    )
  }
  // Minimums of zero, or swaps there and back, are met by a reverted batch too: that one leaves every balance as it
  // was.
  const moved = actual.some((change) => change !== null && change !== 0n)
  const sufficient = changes.every(({ least }, index) => (actual[index] ?? least - 1n) >= least)
  if (!moved || !sufficient) return yield* refusedSimulation(chainId, yield* reasonOfRepeat(operation, simulate))
})
