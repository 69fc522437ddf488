/**
 * What became of the user operations in a transaction, by its logs. Source: ERC-4337 (UserOperationEvent,
 * BeforeExecution), ERC-20 (Transfer).
 */
import { Option } from "effect"
import {
  type AbiEvent,
  erc20Abi,
  getAbiItem,
  type Hex,
  isAddressEqual,
  type Log,
  pad,
  parseEventLogs,
  toEventSelector,
  type TransactionReceipt
} from "viem"
import { type AccountId, type AssetId, chainIdOf, erc20 } from "#domain/Caip.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { operationEvent } from "#layers/evm/execution/operationEvents.ts"

const beginEvent = getAbiItem({ abi: entryPointAbi, name: "BeforeExecution" })
const transferEvent = getAbiItem({ abi: erc20Abi, name: "Transfer" })

/** The logs of one event, by its topic: decoding each log to find out which event it is costs a hash a try. */
const logsOf = (event: AbiEvent) => {
  const topic = toEventSelector(event)
  return (logs: ReadonlyArray<Log>) => logs.filter(({ topics }) => topics[0] === topic)
}
const endLogs = logsOf(operationEvent)
const beginLogs = logsOf(beginEvent)
const transferLogs = logsOf(transferEvent)

const isOfEntryPoint = ({ address }: Log) => isAddressEqual(address, entryPoint)

interface OperationEnd {
  readonly userOpHash: Hex
  readonly sender: Hex
  readonly success: boolean
  readonly actualGasUsed: bigint
  readonly logIndex: number
}

/** In the order of their logs. */
interface OperationMarks {
  readonly ends: ReadonlyArray<OperationEnd>
  /** Positions after which operations begin to be carried out. */
  readonly begins: ReadonlyArray<number>
}

const readMarks = ({ logs }: TransactionReceipt): OperationMarks => ({
  ends: parseEventLogs({ abi: [operationEvent], logs: endLogs(logs).filter(isOfEntryPoint), strict: true }).map(
    ({ args: { actualGasUsed, sender, success, userOpHash }, logIndex }) => ({
      userOpHash,
      sender,
      success,
      actualGasUsed,
      logIndex
    })
  ),
  begins: beginLogs(logs)
    .filter(isOfEntryPoint)
    .map(({ logIndex }) => logIndex!)
})

/** A receipt is read once for all operations that it carried. */
const known = new WeakMap<TransactionReceipt, OperationMarks>()

const marksOf = (receipt: TransactionReceipt): OperationMarks => {
  const marks = known.get(receipt) ?? readMarks(receipt)
  known.set(receipt, marks)
  return marks
}

/** Net change of each token that an account had in a transaction, by the Transfer events. */
export const netTransfers = (
  { logs }: Pick<TransactionReceipt, "logs">,
  accountId: AccountId
): ActionReceipt["deltas"] => {
  const account = toViem(addressOf(accountId))
  const word = pad(account.toLowerCase() as Hex)
  const names = ({ topics: [, from, to] }: Log) => from?.toLowerCase() === word || to?.toLowerCase() === word
  const net = new Map<AssetId, bigint>()
  // Decoded are its own alone: what goes between pools and routers is most of a receipt.
  const own = transferLogs(logs).filter(names)
  for (const { address, args } of parseEventLogs({ abi: [transferEvent], logs: own, strict: true })) {
    const received = isAddressEqual(args.to, account) ? args.value : 0n
    const sent = isAddressEqual(args.from, account) ? args.value : 0n
    const assetId = erc20(chainIdOf(accountId), fromViem(address))
    net.set(assetId, (net.get(assetId) ?? 0n) + received - sent)
  }
  return [...net].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

/** Whether the transaction carried an operation of the account. */
export const actsIn = (receipt: TransactionReceipt, accountId: AccountId): boolean =>
  marksOf(receipt).ends.some(({ sender }) => isAddressEqual(sender, toViem(addressOf(accountId))))

/** What a unit of gas cost, where the node returns it. */
export const gasPriceOf = ({ effectiveGasPrice }: Partial<Pick<TransactionReceipt, "effectiveGasPrice">>) =>
  effectiveGasPrice === undefined ? {} : { gasPriceRaw: effectiveGasPrice }

/**
 * Reads the operation's outcome from a receipt; none when the transaction did not carry the operation.
 *
 * A transaction may carry others too: what an operation moved stands between the end of the one before it, or the
 * beginning of the first, and its own event. Of the gas its share counts, by what the EntryPoint charges each.
 */
export const outcomeIn = (
  receipt: TransactionReceipt,
  userOpHash: string,
  accountId: AccountId
): Option.Option<ActionReceipt> => {
  const { begins, ends } = marksOf(receipt)
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
    gasUsed:
      ends.length === 1 ? receipt.gasUsed : (receipt.gasUsed * end.actualGasUsed) / (charged === 0n ? 1n : charged),
    ...gasPriceOf(receipt),
    deltas: netTransfers({ logs }, accountId)
  })
}
