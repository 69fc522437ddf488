/**
 * Port: whether the chain shows that an owner's order was carried out. An operation that carries an order names it in
 * its calldata, its mark, so that the order is found although the service has lost every record of the operation.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { AccountId, ChainId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/Ids.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"

export interface SoughtOrder {
  readonly chainId: ChainId
  readonly accountId: AccountId
  readonly orderId: OperationId
  /** No operation carries it from before this time. */
  readonly acceptedAt: DateTime.Utc
  /** Nodes that have not reached this block are not believed that there is none. */
  readonly fromBlock: bigint
}

export type MarkedOrder =
  | { readonly _tag: "Absent" }
  /** An operation carried it out, in a block that does not count yet. */
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Carried"; readonly receipt: ActionReceipt }

export class OrderMarks extends Context.Service<
  OrderMarks,
  {
    /**
     * Among the account's operations of the last 40,000 blocks, as every endpoint of the chain shows them. What was
     * reverted does not count. Fails when no endpoint answers, or when they contradict each other.
     */
    readonly find: (order: SoughtOrder) => Effect.Effect<MarkedOrder, ChainUnavailable>
  }
>()("ballast/domain/action/OrderMarks") {}
