/**
 * What became of the user operations in a transaction, by its logs. Source: ERC-4337 (UserOperationEvent,
 * UserOperationRevertReason, BeforeExecution), ERC-20 (Transfer).
 */
import { Option, Schema } from "effect"
import {
  type AbiEvent,
  erc20Abi,
  getAbiItem,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  type Log,
  pad,
  size,
  slice,
  toEventSelector,
  type TransactionReceipt
} from "viem"
import { type AccountId, type AssetId, chainIdOf, erc20 } from "#domain/values/Caip.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { operationEvent } from "#layers/evm/execution/operationEvents.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { bytesAt, numberAt } from "#layers/evm/rpc/abiWords.ts"

const beginEvent = getAbiItem({ abi: entryPointAbi, name: "BeforeExecution" })
const revertEvent = getAbiItem({ abi: entryPointAbi, name: "UserOperationRevertReason" })
const transferEvent = getAbiItem({ abi: erc20Abi, name: "Transfer" })

/** The logs of one event, by its topic: decoding each log to find out which event it is costs a hash a try. */
const logsOf = (event: AbiEvent) => {
  const topic = toEventSelector(event)
  return (logs: ReadonlyArray<Log>) => logs.filter(({ topics }) => topics[0] === topic)
}
const endLogs = logsOf(operationEvent)
const beginLogs = logsOf(beginEvent)
const revertLogs = logsOf(revertEvent)
const transferLogs = logsOf(transferEvent)

/** A word of a log's data as a number. Decoding a log by its ABI hashes the event's signature every time. */
const wordOf = (data: Hex, index: number): bigint => hexToBigInt(slice(data, 32 * index, 32 * (index + 1)))

const isOfEntryPoint = ({ address }: Log) => isAddressEqual(address, entryPoint)

interface OperationEnd {
  readonly userOpHash: Hex
  readonly sender: Hex
  readonly success: boolean
  readonly actualGasUsed: bigint
  readonly logIndex: number
}

/** Events of operations in the order of their logs. */
interface OperationBounds {
  readonly ends: ReadonlyArray<OperationEnd>
  /** Positions after which operations begin to be carried out. */
  readonly begins: ReadonlyArray<number>
}

/** Indexed are the operation's hash, its sender and its paymaster; nonce, success, cost and gas are the four words. */
const endOf = ({ data, logIndex, topics: [, userOpHash, sender] }: Log): ReadonlyArray<OperationEnd> => {
  if (userOpHash === undefined || sender === undefined || size(data) < 4 * 32) return []
  const [success, actualGasUsed] = [wordOf(data, 1) !== 0n, wordOf(data, 3)]
  return [{ userOpHash, sender: slice(sender, 12), success, actualGasUsed, logIndex: logIndex! }]
}

const readBounds = ({ logs }: TransactionReceipt): OperationBounds => ({
  ends: endLogs(logs).filter(isOfEntryPoint).flatMap(endOf),
  begins: beginLogs(logs)
    .filter(isOfEntryPoint)
    .map(({ logIndex }) => logIndex!)
})

/** A receipt is read once for all operations that it included. */
const known = new WeakMap<TransactionReceipt, OperationBounds>()

const boundsOf = (receipt: TransactionReceipt): OperationBounds => {
  const bounds = known.get(receipt) ?? readBounds(receipt)
  known.set(receipt, bounds)
  return bounds
}

/** Net change of each token that an account had in a transaction, by the Transfer events. */
export const netTransfers = (
  { logs }: Pick<TransactionReceipt, "logs">,
  accountId: AccountId
): ActionReceipt["deltas"] => {
  const word = pad(toViem(addressOf(accountId)).toLowerCase() as Hex)
  const net = new Map<AssetId, bigint>()
  for (const { address, data, topics } of transferLogs(logs)) {
    const [from, to] = [topics[1]?.toLowerCase(), topics[2]?.toLowerCase()]
    if (from === to || (from !== word && to !== word)) continue
    // The same event with other fields indexed is an ERC-721's, whose number is a topic.
    if (from === undefined || to === undefined || size(data) < 32) continue
    const assetId = erc20(chainIdOf(accountId), fromViem(address))
    const value = wordOf(data, 0)
    net.set(assetId, (net.get(assetId) ?? 0n) + (to === word ? value : -value))
  }
  return [...net].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

/**
 * What the calls of a reverted operation said. Indexed are its hash and its sender; the nonce and where the bytes are
 * come first in the data. An operation that ran out of gas, or reverted without data, has no such event.
 */
const revertOf = ({ logs }: TransactionReceipt, userOpHash: string): Pick<ActionReceipt, "reason"> => {
  const found = revertLogs(logs).find((log) => isOfEntryPoint(log) && log.topics[1] === userOpHash)
  if (found === undefined || size(found.data) < 3 * 32) return {}
  try {
    return { reason: revertReason(bytesAt(found.data, numberAt(found.data, 32))) }
  } catch {
    return {}
  }
}

/** Whether the transaction included an operation of the account. */
export const actsIn = (receipt: TransactionReceipt, accountId: AccountId): boolean =>
  boundsOf(receipt).ends.some(({ sender }) => isAddressEqual(sender, toViem(addressOf(accountId))))

const Quantity = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,64}$/u))

/** Fee for data of the OP stack, which the library passes on as the node wrote it. */
const DataFee = Schema.Struct({ l1Fee: Quantity })
const OperatorFee = Schema.Struct({
  gasUsed: Schema.BigInt,
  operatorFeeScalar: Quantity,
  operatorFeeConstant: Quantity,
  /** Scalar that receipts have since Jovian, which counts otherwise. */
  daFootprintGasScalar: Schema.optionalKey(Schema.Unknown)
})

const dataFeeIn = (receipt: object): bigint =>
  Option.match(Schema.decodeUnknownOption(DataFee)(receipt), {
    onNone: () => 0n,
    onSome: ({ l1Fee }) => BigInt(l1Fee)
  })

/** What the operator charged, by the formula of its fork. Nodes leave the fields out where it charges nothing. */
const operatorFeeIn = (receipt: object): bigint =>
  Option.match(Schema.decodeUnknownOption(OperatorFee)(receipt), {
    onNone: () => 0n,
    onSome: ({ daFootprintGasScalar, gasUsed, operatorFeeConstant, operatorFeeScalar }) => {
      const scaled = gasUsed * BigInt(operatorFeeScalar)
      const byGas = daFootprintGasScalar === undefined ? scaled / 1_000_000n : scaled * 100n
      return byGas + BigInt(operatorFeeConstant)
    }
  })

/** What a unit of gas cost, where the node returns it, and a share of what the rollup charged beside it. */
export const gasPriceOf = (
  receipt: Partial<Pick<TransactionReceipt, "effectiveGasPrice">>,
  { of, part }: { readonly part: bigint; readonly of: bigint } = { part: 1n, of: 1n }
): Pick<ActionReceipt, "gasPriceRaw" | "dataFeeRaw"> => {
  const { effectiveGasPrice } = receipt
  const dataFeeRaw = of === 0n ? 0n : ((dataFeeIn(receipt) + operatorFeeIn(receipt)) * part) / of
  return {
    ...(effectiveGasPrice === undefined ? {} : { gasPriceRaw: effectiveGasPrice }),
    ...(dataFeeRaw === 0n ? {} : { dataFeeRaw })
  }
}

/**
 * Reads the operation's outcome from a receipt; none when the transaction did not include the operation.
 *
 * A transaction may include others too: what an operation moved stands between the end of the one before it, or the
 * beginning of the first, and its own event. Of the gas its share counts, by what the EntryPoint charges each.
 */
export const outcomeIn = (
  receipt: TransactionReceipt,
  userOpHash: string,
  accountId: AccountId
): Option.Option<ActionReceipt> => {
  const { begins, ends } = boundsOf(receipt)
  const end = ends.find((one) => one.userOpHash === userOpHash)
  if (end === undefined) return Option.none()
  const begin = [...begins, ...ends.map(({ logIndex }) => logIndex)].reduce(
    (last, logIndex) => (logIndex < end.logIndex && logIndex > last ? logIndex : last),
    -1
  )
  const logs = receipt.logs.filter(({ logIndex }) => logIndex > begin && logIndex < end.logIndex)
  const charged = ends.reduce((sum, { actualGasUsed }) => sum + actualGasUsed, 0n)
  return Option.some({
    actionHash: userOpHash,
    txHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    success: end.success,
    ...(end.success ? {} : revertOf(receipt, userOpHash)),
    gasUsed:
      ends.length === 1 ? receipt.gasUsed : (receipt.gasUsed * end.actualGasUsed) / (charged === 0n ? 1n : charged),
    ...gasPriceOf(receipt, ends.length === 1 ? undefined : { part: end.actualGasUsed, of: charged }),
    deltas: netTransfers({ logs }, accountId)
  })
}
