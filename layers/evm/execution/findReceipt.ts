/**
 * What became of a user operation. A signed operation is public, so anybody may have submitted it: the EntryPoint's event
 * with its hash decides, not the fate of our own transaction. Only when nobody carried it does the end of our own one
count. Source: ERC-4337 (UserOperationEvent), ERC-20 (Transfer).
 */
import { Effect, Option } from "effect"
import {
  type Address,
  erc20Abi,
  getAbiItem,
  type Hex,
  isAddressEqual,
  parseEventLogs,
  type TransactionReceipt
} from "viem"
import { addressOf, erc20, type AssetId, type ChainId, chainIdOf, type EvmAccountId } from "#domain/Caip.ts"
import type { ActionReceipt, SignedTransaction } from "#domain/relay/Transaction.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { receiptOf } from "#layers/evm/execution/sendTransaction.ts"

/** Blocks in one log request: within what public nodes allow. And how many requests: past the deadline of every swap. */
const blocksPerRequest = 5_000n
const mostRequests = 8

const operationEvent = getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" })

/** Net change of each token that an account had in a transaction, by the Transfer events. */
export const netTransfers = (receipt: TransactionReceipt, accountId: EvmAccountId): ActionReceipt["deltas"] => {
  const account = toViem(addressOf(accountId))
  const net = new Map<AssetId, bigint>()
  for (const { address, args } of parseEventLogs({
    abi: erc20Abi,
    eventName: "Transfer",
    logs: receipt.logs,
    strict: true
  })) {
    const received = isAddressEqual(args.to, account) ? args.value : 0n
    const sent = isAddressEqual(args.from, account) ? args.value : 0n
    const assetId = erc20(chainIdOf(accountId), fromViem(address))
    net.set(assetId, (net.get(assetId) ?? 0n) + received - sent)
  }
  return [...net].filter(([, raw]) => raw !== 0n).map(([assetId, raw]) => ({ assetId, raw }))
}

/** Reads the operation's outcome from a receipt; none when the transaction did not carry the operation. */
const outcomeIn = (
  receipt: TransactionReceipt,
  userOpHash: string,
  accountId: EvmAccountId
): Option.Option<ActionReceipt> => {
  const event = parseEventLogs({
    abi: entryPointAbi,
    eventName: "UserOperationEvent",
    logs: receipt.logs,
    strict: true
  }).find(({ address, args }) => isAddressEqual(address, entryPoint) && args.userOpHash === userOpHash)
  if (event === undefined) return Option.none()
  return Option.some({
    subject: userOpHash,
    txHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    success: event.args.success,
    gasUsed: receipt.gasUsed,
    deltas: netTransfers(receipt, accountId)
  })
}

/** The hash of the transaction that carried the operation, sought forward from a block within the bounds above. */
const findCarrier = Effect.fnUntraced(function* (chainId: ChainId, userOpHash: Hex, fromBlock: bigint) {
  const { request } = yield* EvmClients
  const head = yield* request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
  for (let page = 0; page < mostRequests; page++) {
    const first = fromBlock + BigInt(page) * blocksPerRequest
    if (first > head) break
    const last = first + blocksPerRequest - 1n
    const [log] = yield* request(chainId, "eth_getLogs", (client) =>
      client.getLogs({
        address: entryPoint,
        event: operationEvent,
        args: { userOpHash },
        fromBlock: first,
        toBlock: last < head ? last : head,
        strict: true
      })
    )
    if (log !== undefined) return log.transactionHash
  }
  return undefined
})

/** The relayer's transaction is out of the race: it was reverted, or another one used its nonce. Nothing moved by it. */
const lost = ({ subject, txHash }: SignedTransaction, receipt: TransactionReceipt | null): ActionReceipt => ({
  subject,
  txHash,
  blockNumber: receipt?.blockNumber ?? 0n,
  success: false,
  gasUsed: receipt?.gasUsed ?? 0n,
  deltas: []
})

export const findReceipt = Effect.fnUntraced(function* (
  transaction: SignedTransaction,
  accountId: EvmAccountId,
  relayer: Address
) {
  const { chainId, fromBlock, nonce, subject, txHash } = transaction
  const { request } = yield* EvmClients
  const receiptAt = (hash: Hex) => request(chainId, "eth_getTransactionReceipt", (client) => receiptOf(client, hash))

  // The nonce first: when it was used before the receipt was asked for, a missing receipt is an answer.
  const minedNonces = yield* request(chainId, "eth_getTransactionCount", (client) =>
    client.getTransactionCount({ address: relayer, blockTag: "latest" })
  )
  const own = yield* receiptAt(txHash as Hex)
  const ownOutcome = own === null ? Option.none<ActionReceipt>() : outcomeIn(own, subject, accountId)
  if (Option.isSome(ownOutcome)) return ownOutcome

  const carrier = yield* findCarrier(chainId, subject as Hex, fromBlock)
  const carried = carrier === undefined ? null : yield* receiptAt(carrier)
  if (carried !== null) return outcomeIn(carried, subject, accountId)
  return own !== null || minedNonces > nonce ? Option.some(lost(transaction, own)) : Option.none<ActionReceipt>()
})
