/**
 * What became of a withdrawal, by the chain alone: the executor's record of used nonces, its `Withdrawn` event, and the
 * chain's own time. Any account may have submitted what the owner signed, so the fate of our transaction decides
 * nothing.
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
import { chainIdOf } from "#domain/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import type { WithdrawalStatus } from "#domain/withdrawal/WithdrawalExecution.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi, withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { type BlockRange, searchLogs } from "#layers/evm/rpc/logSearch.ts"
import { gasPriceOf, netTransfers } from "#layers/evm/execution/operationOutcome.ts"
import { type Depth, readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"
import { isUsedCall, withdrawalDigest } from "#layers/evm/account/executorCalls.ts"

/**
 * An authorization is valid for eleven minutes at most, which is 6,600 blocks on the fastest supported chain (100 ms).
 * The block at which it was accepted lies within that time, so it can have landed in no other blocks than these around
 * it.
 */
const blocksBefore = 10_000n
const maxBlocks = 20_000n

const withdrawnEvent = getAbiItem({ abi: withdrawalExecutorAbi, name: "Withdrawn" })

const timestampCall: Call = {
  target: multicall3,
  data: encodeFunctionData({ abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" })
}

/** Whether the transaction carried out what was signed; undefined when it touched the nonce in no way. */
const carriedBy = (receipt: TransactionReceipt, withdrawal: AuthorizedWithdrawal): boolean | undefined => {
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
): Option.Option<ActionReceipt> =>
  carriedBy(receipt, withdrawal) === true
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

/**
 * The transaction whose event used the nonce up, sought in all blocks in which it can be; "pending" while the chain
 * shows one that does not count yet.
 */
const findCarrier = Effect.fnUntraced(function* (
  { acceptedAtBlock, accountId, message }: StoredWithdrawal,
  { confirmed, head }: Depth
) {
  const chainId = chainIdOf(accountId)
  const fromBlock = acceptedAtBlock > blocksBefore ? acceptedAtBlock - blocksBefore : 0n
  const last = fromBlock + maxBlocks - 1n
  const args = { account: toViem(addressOf(accountId)), nonce: message.nonce as Hex }
  const read = (client: PublicClient, range: BlockRange) =>
    client.getLogs({ address: withdrawalExecutor, event: withdrawnEvent, args, ...range, strict: true })
  const [log] = yield* searchLogs(chainId, {
    range: { fromBlock, toBlock: last < head ? last : head },
    isEnough: (found) => found.length > 0,
    read
  })
  const receipt = log === undefined ? null : yield* confirmedReceipt(chainId, log.transactionHash, confirmed)
  if (receipt !== null) return receipt
  return yield* new ChainUnavailable({
    chainId,
    reason: "a withdrawal was carried out, and the node does not show the transaction that did it"
  })
})

/** The state on the chain now. "Unconfirmed": a reorganization may take away the transaction that carried it out. */
export const readStanding = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal, depth: Depth) {
  const chainId = chainIdOf(withdrawal.accountId)
  const { expiresAt } = withdrawal.message
  // Of a block that is named: an older one would show an authorization as unused that was carried out since.
  const frame = { blockNumber: depth.head }
  const [used, time] = (yield* multicall(chainId, [isUsedCall(withdrawal), timestampCall], frame)).map(uintOf)
  if (time == null) {
    return yield* new ChainUnavailable({ chainId, reason: "Multicall3 does not answer the time; is it deployed here?" })
  }
  if (used === 1n) {
    const receipt = yield* findCarrier(withdrawal, depth)
    if (receipt === "pending") return "Unconfirmed" as const
    const landed = landedIn(receipt, withdrawal, withdrawalDigest(withdrawal) ?? withdrawal.message.nonce)
    return Option.match(landed, {
      onNone: (): WithdrawalStatus => ({
        _tag: "Closed",
        reason: `its nonce was used by another authorization of the owner in ${receipt.transactionHash}`
      }),
      onSome: (landedReceipt): WithdrawalStatus => ({ _tag: "Landed", receipt: landedReceipt })
    })
  }
  if (time > BigInt(expiresAt)) {
    const closed: WithdrawalStatus = {
      _tag: "Closed",
      reason: "the authorization expired before the chain carried it out; nothing moved, and nothing can any more"
    }
    return closed
  }
  if (used == null) {
    return yield* new ChainUnavailable({
      chainId,
      reason: `the withdrawal executor does not answer at ${withdrawalExecutor}; is it deployed here?`
    })
  }
  const open: WithdrawalStatus = { _tag: "Open" }
  return open
})

/** The same for callers that need a final answer: what a reorganization may still take away counts as none. */
export const withdrawalStanding = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal) {
  const standing = yield* readStanding(withdrawal, yield* readDepth(chainIdOf(withdrawal.accountId)))
  if (standing !== "Unconfirmed") return standing
  return yield* new ChainUnavailable({
    chainId: chainIdOf(withdrawal.accountId),
    reason: "a withdrawal was carried out, and the transaction that did it is not confirmed yet"
  })
})
