/** What an action does, and what it came to, as both are stored. */
import { Schema } from "effect"
import { CallsOrder } from "#domain/action/CallsOrder.ts"
import { SwapOrder } from "#domain/action/SwapOrder.ts"
import { ChainId } from "#domain/values/Caip.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { Swap } from "#domain/trading/Swap.ts"

export const ActionOrder = Schema.Union([SwapOrder, CallsOrder])
export type ActionOrder = typeof ActionOrder.Type

export const kindOf = ({ _tag }: ActionOrder): OperationKind => (_tag === "Calls" ? "execute" : "swap")

/** `swap` is left out of an order of calls. */
export const ActionOutcome = Schema.Struct({
  chainId: ChainId,
  swap: Schema.optionalKey(Swap),
  receipt: ActionReceipt
})
export type ActionOutcome = typeof ActionOutcome.Type
