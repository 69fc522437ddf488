/**
 * What an earlier operation of an action did: one whose attempt failed may still be submitted by anyone who has seen
 * it, and one may have been included of which no record is left.
 */
import { Effect, Option } from "effect"
import type { StoredOrder } from "#domain/order/OrderStore.ts"
import type { SwapStep } from "#domain/order/SwapPreparer.ts"
import type { Closed, Setback } from "#domain/relay/ActionStep.ts"
import { revertOf } from "#domain/relay/ChainAction.ts"
import type { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import type { RelayStore } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { assumedExecution, type Swap } from "#domain/trading/Swap.ts"

/** An attempt of an action that moved nothing. */
export type SwapSetback = Setback<Extract<SwapStep, { readonly _tag: "Ready" }>>

/** Whether the chain carried an operation out and reverted it. */
const isRevert = ({ isBundleReverted, isNotBegun, success }: ActionReceipt): boolean =>
  !success && isBundleReverted !== true && isNotBegun !== true

/** Calls that the chain reverted end their action: the gas of the same again would be paid for nothing. */
export const revertedCalls = ({ order }: StoredOrder, before: ReadonlyArray<SwapSetback>): Closed | undefined => {
  const reverted = before.find(({ receipt }) => isRevert(receipt))
  return order._tag === "Calls" && reverted !== undefined
    ? { _tag: "Closed", reason: `${revertOf(reverted.receipt)}; calls that the chain reverted are not tried again` }
    : undefined
}

/** An earlier operation that counts after all. */
export const findLanded = (relays: RelayStore["Service"], actions: ActionReceipts["Service"]) =>
  Effect.fnUntraced(function* ({ operationId, order }: StoredOrder, before: ReadonlyArray<SwapSetback>) {
    for (const { attempt, step } of before) {
      const sent = yield* relays.sent({ operationId, chainId: order.chainId, attempt })
      if (Option.isNone(sent)) continue
      const receipt = yield* actions.find(sent.value.transaction, order.accountId)
      if (Option.isSome(receipt) && receipt.value.success) {
        return Option.some(withSwap({ _tag: "Landed", receipt: receipt.value }, step.swap) satisfies SwapStep)
      }
    }
    return Option.none()
  })

/** The swap of an order as far as the order says it: the quote, and with it the minimum, is lost. */
export const unrecordedSwap = ({ order }: StoredOrder): Swap | undefined =>
  order._tag === "Calls"
    ? undefined
    : {
        sell: order.sell,
        buy: order.buy,
        sellAmountRaw: order.amountRaw,
        minBuyAmountRaw: order.route?.minRaw ?? order.issuer?.expectedRaw ?? 0n,
        execution: assumedExecution(order)
      }

/** An order of calls has no swap. */
export const withSwap = <A extends object>(value: A, swap: Swap | undefined) => ({
  ...value,
  ...(swap === undefined ? {} : { swap })
})
