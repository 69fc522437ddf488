/** Port: what a prepared transaction would do, traced by a node of its chain. Nothing is sent. */
import { Context, type Effect, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"

/** One call of the trace, in the order in which they are made. */
export const TracedCall = Schema.Struct({
  /** 0 for the transaction itself. */
  depth: Schema.Int,
  type: Schema.String,
  from: Schema.String,
  to: Schema.NullOr(Schema.String),
  gasUsed: Schema.BigIntFromString,
  /** Why the call failed; null when it succeeded. */
  error: Schema.NullOr(Schema.String)
})
export type TracedCall = typeof TracedCall.Type

export interface CallTrace {
  readonly gasUsed: bigint
  /** Calls, at most 200; empty where the node offers no traces. */
  readonly calls: ReadonlyArray<TracedCall>
}

/**
 * What a prepared transaction would do, traced by a node of its chain.
 *
 * **When to use**
 *
 * Use to show the effects of calls before they are submitted. Preparing simulates by itself already.
 */
export class CallTracer extends Context.Service<
  CallTracer,
  { readonly trace: (prepared: PreparedTransaction) => Effect.Effect<CallTrace, ChainUnavailable> }
>()("ballast/domain/order/CallTracer") {}
