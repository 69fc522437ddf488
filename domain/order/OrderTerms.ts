/** What an action does, and what it came to, as both are stored. */
import { Schema } from "effect"
import { CallsOrder } from "#domain/order/CallsOrder.ts"
import { SwapOrder } from "#domain/order/SwapOrder.ts"
import { ChainId } from "#domain/values/Caip.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { Swap } from "#domain/trading/Swap.ts"

export const OrderTerms = Schema.Union([SwapOrder, CallsOrder])
export type OrderTerms = typeof OrderTerms.Type

export const kindOf = ({ _tag }: OrderTerms): OperationKind => (_tag === "Calls" ? "execute" : "swap")

/** `swap` is left out of an order of calls. */
export const OrderOutcome = Schema.Struct({
  chainId: ChainId,
  swap: Schema.optionalKey(Swap),
  receipt: ActionReceipt
})
export type OrderOutcome = typeof OrderOutcome.Type
