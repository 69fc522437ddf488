/** Looks for the marks of orders among the operations of an account. Source: ERC-4337 (UserOperationEvent). */
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import type { Hex } from "viem"
import { type MarkedOrder, OrderMarks, type SoughtOrder } from "#domain/action/OrderMarks.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { maxBlocks, operationEvents, rangesFrom } from "#layers/evm/execution/operationEvents.ts"
import { outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { carriesMark, markOf } from "#layers/evm/execution/orderMark.ts"
import { readDepth, settledReceipt } from "#layers/evm/execution/settledReceipt.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"

/** No chain makes blocks faster, so no more of them were made since an order was accepted. */
const leastBlockMs = 250
/** Blocks before the acceptance that are searched besides: clocks differ. */
const marginBlocks = 256n

/** The first block that is searched. */
const beginningOf = Effect.fnUntraced(function* ({ acceptedAt }: SoughtOrder, head: bigint) {
  const elapsedMs = Math.max(0, (yield* Clock.currentTimeMillis) - DateTime.toEpochMillis(acceptedAt))
  const blocks = BigInt(Math.ceil(elapsedMs / leastBlockMs)) + marginBlocks
  const least = blocks < maxBlocks ? blocks : maxBlocks
  return head < least ? 0n : head - least + 1n
})

/** What the account's operations say that succeeded, oldest first. */
const operationsSince = Effect.fnUntraced(function* ({ accountId, chainId }: SoughtOrder, from: bigint, head: bigint) {
  const sender = toViem(addressOf(accountId))
  const logs = yield* Effect.forEach(rangesFrom(from, head), (range) => operationEvents(chainId, { sender }, range))
  return logs.flat().filter(({ args }) => args.success)
})

const inputOf = Effect.fnUntraced(function* ({ chainId }: SoughtOrder, hash: Hex) {
  const { request } = yield* EvmClients
  const { input } = yield* request(chainId, "eth_getTransactionByHash", (client) => client.getTransaction({ hash }))
  return input
})

/** What one endpoint shows; `sawPending` hears of an operation with the mark in a block that does not count yet. */
const observe = Effect.fnUntraced(function* (order: SoughtOrder, sawPending: () => void) {
  const { accountId, chainId, fromBlock, orderId } = order
  const { head, settled } = yield* readDepth(chainId)
  if (head < fromBlock)
    return yield* new ChainUnavailable({ chainId, reason: `the endpoint is at block ${head}, before ${fromBlock}` })
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, settled, receipt })
  for (const { args, transactionHash } of yield* operationsSince(order, yield* beginningOf(order, head), head)) {
    if (!carriesMark(yield* inputOf(order, transactionHash), args, markOf(orderId))) continue
    const receipt = yield* settledReceipt(chainId, transactionHash, settled)
    if (receipt !== null && receipt !== "pending") return shows(outcomeIn(receipt, args.userOpHash, accountId))
    sawPending()
  }
  return shows(Option.none())
})

export const OrderMarksLive = Layer.effect(
  OrderMarks,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const find = Effect.fn("OrderMarks.find")(
      function* (order: SoughtOrder) {
        let isPending = false
        const found = yield* agreed(
          order.chainId,
          observe(order, () => (isPending = true))
        )
        if (Option.isSome(found)) return { _tag: "Carried", receipt: found.value } satisfies MarkedOrder
        return { _tag: isPending ? "Pending" : "Absent" } satisfies MarkedOrder
      },
      Effect.provideService(EvmClients, clients)
    )

    return OrderMarks.of({ find })
  })
)
