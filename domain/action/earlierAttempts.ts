/**
 * What an earlier operation of an action did: one whose attempt failed may still be carried by anyone who has seen it,
 * and one may have been carried of which no record is left.
 */
import { Effect, Option } from "effect"
import type { StoredAction } from "#domain/action/ActionStore.ts"
import type { SwapStep } from "#domain/action/SwapPreparer.ts"
import type { CarriedActions } from "#domain/relay/CarriedActions.ts"
import type { RelayStore } from "#domain/relay/RelayStore.ts"
import { assumedExecution, type Swap } from "#domain/trading/Swap.ts"

/** An operation that was on its way to the chain. */
export interface SentAttempt {
  readonly attempt: number
  readonly swap: Swap | undefined
}

/** An earlier operation that counts after all. */
export const findLanded = (relays: RelayStore["Service"], actions: CarriedActions["Service"]) =>
  Effect.fnUntraced(function* ({ operationId, order }: StoredAction, sentBefore: ReadonlyArray<SentAttempt>) {
    for (const { attempt, swap } of sentBefore) {
      const sent = yield* relays.sent({ operationId, chainId: order.chainId, attempt })
      if (Option.isNone(sent)) continue
      const receipt = yield* actions.find(sent.value.transaction, order.accountId)
      if (Option.isSome(receipt) && receipt.value.success) {
        return Option.some(withSwap({ _tag: "Landed", receipt: receipt.value }, swap) satisfies SwapStep)
      }
    }
    return Option.none()
  })

/** The swap of an order as far as the order says it: the quote, and with it the minimum, is lost. */
export const unrecordedSwap = ({ order }: StoredAction): Swap | undefined =>
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
