/**
 * What became of a withdrawal, by the chain alone: the executor's record of used nonces, its `Withdrawn` event, and the
 * chain's own time; of the native coin the account's nonce in the EntryPoint, and the EntryPoint's event. Any account
 * may have submitted what the owner signed, so the fate of our transaction decides nothing.
 */
import { Effect, Option } from "effect"
import {
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  parseEventLogs,
  type PublicClient,
  type TransactionReceipt
} from "viem"
import { nativeOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import type { WithdrawalStatus } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi, withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { type BlockRange, searchLogs } from "#layers/evm/rpc/logSearch.ts"
import { type OperationEvent, operationEvents } from "#layers/evm/execution/operationEvents.ts"
import { gasPriceOf, netTransfers, outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { type Depth, readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"
import { isUsedCall, withdrawalDigest } from "#layers/evm/account/executorCalls.ts"
import { nativeDigest, nextNonceCall, entryPointNonceOf } from "#layers/evm/withdrawal/nativeWithdrawal.ts"

/**
 * An authorization is valid for eleven minutes at most, which is 6,600 blocks on the fastest supported chain (100 ms).
 * The block at which it was accepted lies within that time, so it can have landed in no other blocks than these around
 * it.
 */
const blocksBefore = 10_000n
const maxBlocks = 20_000n
/** Blocks that are searched for a withdrawal of the native coin, which the chain takes at any time: more than a day. */
const maxBlocksOfNative = 1_000_000n

const withdrawnEvent = getAbiItem({ abi: withdrawalExecutorAbi, name: "Withdrawn" })

const timestampCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" })
}

/** Whether the transaction carried out what was signed; undefined when it touched the nonce in no way. */
const isIncludedBy = (receipt: TransactionReceipt, withdrawal: AuthorizedWithdrawal): boolean | undefined => {
  const account = toViem(addressOf(withdrawal.accountId))
  const event = parseEventLogs({
    abi: withdrawalExecutorAbi,
    eventName: "Withdrawn",
    logs: receipt.logs,
    strict: true
  }).find(
    ({ address, args }) =>
      isAddressEqual(address, withdrawalExecutor) &&
      isAddressEqual(args.account, account) &&
      args.nonce === withdrawal.message.nonce
  )
  return event === undefined ? undefined : event.args.digest === withdrawalDigest(withdrawal)
}

/** The receipt of a transaction that carried the withdrawal out; none when it did not. */
export const landedIn = (
  receipt: TransactionReceipt,
  withdrawal: AuthorizedWithdrawal,
  actionHash: string
): Option.Option<ActionReceipt> => {
  const operation = nativeDigest(withdrawal)
  if (operation !== undefined) {
    return Option.filter(outcomeIn(receipt, operation, withdrawal.accountId), ({ success }) => success)
  }
  return isIncludedBy(receipt, withdrawal) === true
    ? Option.some({
        actionHash,
        txHash: receipt.transactionHash,
        blockNumber: receipt.blockNumber,
        blockHash: receipt.blockHash,
        success: true,
        gasUsed: receipt.gasUsed,
        ...gasPriceOf(receipt),
        deltas: netTransfers(receipt, withdrawal.accountId)
      })
    : Option.none()
}

/** Why the transaction that used the nonce up did not carry the withdrawal out. */
const spentBecause = (receipt: TransactionReceipt, withdrawal: AuthorizedWithdrawal): string => {
  const operation = nativeDigest(withdrawal)
  const outcome =
    operation === undefined ? undefined : Option.getOrUndefined(outcomeIn(receipt, operation, withdrawal.accountId))
  if (outcome === undefined) {
    return `its nonce was used by another authorization of the owner in ${receipt.transactionHash}`
  }
  const said = outcome.reason === undefined ? "" : ` (${outcome.reason})`
  return `the recipient did not take the native coin in ${receipt.transactionHash}${said}; nothing moved`
}

/** The transaction whose event of the executor used the nonce up. */
const withdrawing = Effect.fnUntraced(function* ({ accountId, message }: StoredWithdrawal, range: BlockRange) {
  const args = { account: toViem(addressOf(accountId)), nonce: message.nonce as Hex }
  const found = yield* searchLogs(chainIdOf(accountId), {
    range,
    isEnough: (logs) => logs.length > 0,
    read: (client: PublicClient, part: BlockRange) =>
      client.getLogs({ address: withdrawalExecutor, event: withdrawnEvent, args, ...part, strict: true })
  })
  return found[0]?.transactionHash
})

/** The transaction of the operation that used the account's nonce. */
const operationSpending = Effect.fnUntraced(function* ({ accountId, message }: StoredWithdrawal, range: BlockRange) {
  const nonce = entryPointNonceOf(message.nonce)
  const isSought = ({ args }: OperationEvent) => args.nonce === nonce
  const found = yield* operationEvents(chainIdOf(accountId), toViem(addressOf(accountId)), {
    range,
    isEnough: (events) => events.some(isSought)
  })
  return found.find(isSought)?.transactionHash
})

/**
 * The transaction whose event used the nonce up, sought in all blocks in which it can be; "pending" while the chain
 * shows one that does not count yet.
 */
const findInclusion = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, { confirmed, head }: Depth) {
  const { acceptedAtBlock, accountId, message } = withdrawal
  const chainId = chainIdOf(accountId)
  const fromBlock = acceptedAtBlock > blocksBefore ? acceptedAtBlock - blocksBefore : 0n
  const isNative = nativeOf(message) !== undefined
  const last = fromBlock + (isNative ? maxBlocksOfNative : maxBlocks) - 1n
  const range = { fromBlock, toBlock: last < head ? last : head }
  const txHash = isNative ? yield* operationSpending(withdrawal, range) : yield* withdrawing(withdrawal, range)
  const receipt = txHash === undefined ? null : yield* confirmedReceipt(chainId, txHash, confirmed)
  if (receipt !== null) return receipt
  return yield* new ChainUnavailable({
    chainId,
    reason: "a withdrawal was carried out, and the node does not show the transaction that did it"
  })
})

const late: WithdrawalStatus = {
  _tag: "Closed",
  reason:
    "the authorization expired before the service carried it out; nothing moved, and the owner's next withdrawal of the native coin voids it"
}

/**
 * The state on the chain now. "Unconfirmed": a reorganization may take away the transaction that carried it out.
 * "Late": it expired, and what was sent before may still carry it out, as the chain knows no end of its time.
 */
export const readStanding = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, depth: Depth) {
  const chainId = chainIdOf(withdrawal.accountId)
  const { expiresAt, nonce } = withdrawal.message
  const isNative = nativeOf(withdrawal.message) !== undefined
  const usedCall = isNative ? nextNonceCall(withdrawal.accountId) : isUsedCall(withdrawal)
  // Of a block that is named: an older one would show an authorization as unused that was carried out since.
  const frame = { blockNumber: depth.head }
  const [answer, time] = (yield* multicall(chainId, [usedCall, timestampCall], frame)).map(uintOf)
  if (time == null) {
    return yield* new ChainUnavailable({ chainId, reason: "Multicall3 does not answer the time; is it deployed here?" })
  }
  const asked = isNative ? "EntryPoint 0.7" : "the withdrawal executor"
  const unanswered = new ChainUnavailable({
    chainId,
    reason: `${asked} does not answer at ${usedCall.target}; is it deployed here?`
  })
  if (answer != null && (isNative ? answer > entryPointNonceOf(nonce) : answer === 1n)) {
    const receipt = yield* findInclusion(withdrawal, depth)
    if (receipt === "pending") return "Unconfirmed" as const
    const landed = landedIn(receipt, withdrawal, withdrawalDigest(withdrawal) ?? nonce)
    return Option.match(landed, {
      onNone: (): WithdrawalStatus => ({ _tag: "Closed", reason: spentBecause(receipt, withdrawal) }),
      onSome: (landedReceipt): WithdrawalStatus => ({ _tag: "Landed", receipt: landedReceipt })
    })
  }
  if (time > BigInt(expiresAt)) {
    if (isNative) {
      if (answer != null) return "Late" as const
      return yield* unanswered
    }
    const closed: WithdrawalStatus = {
      _tag: "Closed",
      reason: "the authorization expired before the chain carried it out; nothing moved, and nothing can any more"
    }
    return closed
  }
  if (answer == null) return yield* unanswered
  const open: WithdrawalStatus = { _tag: "Open" }
  return open
})

/**
 * Reads the standing for callers that need a final answer: what a reorganization may still take away counts as none.
 */
export const withdrawalStanding = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal) {
  const standing = yield* readStanding(withdrawal, yield* readDepth(chainIdOf(withdrawal.accountId)))
  // The state is asked for between two transactions: of what was sent before is known what became of it.
  if (standing === "Late") return late
  if (standing !== "Unconfirmed") return standing
  return yield* new ChainUnavailable({
    chainId: chainIdOf(withdrawal.accountId),
    reason: "a withdrawal was carried out, and the transaction that did it is not confirmed yet"
  })
})
