/** Prepares what the agent does for an account on a chain when no other operation acts for it. */
import { DateTime, Duration, Effect, Schema } from "effect"
import type { AccountQueue, AccountTurn } from "#domain/operation/AccountQueue.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"

/** Another operation acts for the account; this one waits in line, and prepares nothing meanwhile. */
export const InLine = Schema.TaggedStruct("InLine", {
  /** How many waiting operations go before it. */
  ahead: Schema.Int,
  /** The operation is to be cancelled: it need not wait any longer. */
  isCancelled: Schema.Boolean
})
export type InLine = typeof InLine.Type

const accountReason = "another operation of the account is under way"

/** How long a run that waits in line sleeps before it asks again: a second for each that goes before it, up to ten. */
export const lineDelay = ({ ahead }: InLine) => Duration.millis(Math.min(10_000, 1_000 * (1 + ahead)))

interface Turn<A> {
  readonly request: AccountTurn
  /** Whether what was made goes on to be signed; the account is released otherwise, so that others do not wait. */
  readonly isToBeSigned: (made: A) => boolean
}

/** Must run inside a step of a workflow, whose transaction it does not share. */
export const inAccountTurn =
  (services: { readonly queue: AccountQueue["Service"]; readonly operations: OperationStore["Service"] }) =>
  <A, E, R>({ request, isToBeSigned }: Turn<A>, prepare: Effect.Effect<A, E, R>): Effect.Effect<A | InLine, E, R> =>
    Effect.gen(function* () {
      const { operations, queue } = services
      const { ahead, state } = yield* queue.acquire(request)
      if (state === "joined") {
        yield* operations.append({
          operationId: request.operationId,
          at: yield* DateTime.now,
          kind: "waiting_for_account",
          payload: { chainId: request.chainId, reason: accountReason }
        })
      }
      if (state !== "acquired") {
        const isCancelled = yield* operations.isCancelRequested(request.operationId)
        return { _tag: "InLine", ahead, isCancelled } satisfies InLine
      }
      const made = yield* prepare
      if (!isToBeSigned(made)) yield* queue.release(request)
      return made
    })
