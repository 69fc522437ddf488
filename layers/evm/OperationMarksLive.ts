/** Searches the user operations of an account for marks. Source: ERC-4337 (UserOperationEvent). */
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import type { Hex } from "viem"
import { namespaceOfChain } from "#domain/Caip.ts"
import { type MarkedOperation, OperationMarks, type SoughtOperation } from "#domain/relay/OperationMarks.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/spanAttributes.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { maxBlocks, operationEvents, rangeFrom } from "#layers/evm/execution/operationEvents.ts"
import { outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { carriesMark, markOf } from "#layers/evm/execution/operationMark.ts"
import { readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"

/** Blocks are taken to come this fast at first. Where they come faster the search goes further back. */
const assumedBlockMs = 200
/** Clocks of chains and of this service differ by less. */
const clockSkewMs = 60_000

/** The first block that is searched: one older than the acceptance, or as far back as is searched. */
const beginningOf = Effect.fnUntraced(function* ({ chainId, since }: SoughtOperation, head: bigint) {
  const { request } = yield* EvmClients
  const notAfterMs = DateTime.toEpochMillis(since) - clockSkewMs
  const elapsedMs = Math.max(clockSkewMs, (yield* Clock.currentTimeMillis) - notAfterMs)
  for (let blocks = BigInt(Math.ceil(elapsedMs / assumedBlockMs)); blocks < maxBlocks && blocks <= head; blocks *= 2n) {
    const blockNumber = head - blocks + 1n
    const { timestamp } = yield* request(chainId, "eth_getBlockByNumber", (client) => client.getBlock({ blockNumber }))
    if (Number(timestamp) * 1_000 <= notAfterMs) return blockNumber
  }
  return head < maxBlocks ? 0n : head - maxBlocks + 1n
})

/** What the account's operations say that succeeded, oldest first. */
const operationsSince = Effect.fnUntraced(function* (
  { accountId, chainId }: SoughtOperation,
  from: bigint,
  head: bigint
) {
  const sender = toViem(addressOf(accountId))
  const events = yield* operationEvents(chainId, sender, { range: rangeFrom(from, head) })
  return events.filter(({ args }) => args.success)
})

const inputOf = Effect.fnUntraced(function* ({ chainId }: SoughtOperation, hash: Hex) {
  const { request } = yield* EvmClients
  const { input } = yield* request(chainId, "eth_getTransactionByHash", (client) => client.getTransaction({ hash }))
  return input
})

/**
 * What one endpoint shows; `sawPending` is called for an operation with the mark in a block that is not confirmed yet.
 */
const observe = Effect.fnUntraced(function* (sought: SoughtOperation, sawPending: () => void) {
  const { accountId, chainId, fromBlock, operationId } = sought
  const { head, confirmed } = yield* readDepth(chainId)
  if (head < fromBlock)
    return yield* new ChainUnavailable({ chainId, reason: `the endpoint is at block ${head}, before ${fromBlock}` })
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })
  for (const { args, transactionHash } of yield* operationsSince(sought, yield* beginningOf(sought, head), head)) {
    if (!carriesMark(yield* inputOf(sought, transactionHash), args, markOf(operationId))) continue
    const receipt = yield* confirmedReceipt(chainId, transactionHash, confirmed)
    if (receipt !== null && receipt !== "pending") return shows(outcomeIn(receipt, args.userOpHash, accountId))
    sawPending()
  }
  return shows(Option.none())
})

export const OperationMarksLive = Layer.effect(
  OperationMarks,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const find = Effect.fn("OperationMarks.find")(
      function* (sought: SoughtOperation) {
        yield* spanIsAbout(sought)
        if (namespaceOfChain(sought.chainId) !== "eip155") return { _tag: "Absent" } satisfies MarkedOperation
        let isPending = false
        const found = yield* agreed(
          sought.chainId,
          observe(sought, () => (isPending = true))
        )
        if (Option.isSome(found)) return { _tag: "Carried", receipt: found.value } satisfies MarkedOperation
        return { _tag: isPending ? "Pending" : "Absent" } satisfies MarkedOperation
      },
      Effect.provideService(EvmClients, clients)
    )

    return OperationMarks.of({ find })
  })
)
