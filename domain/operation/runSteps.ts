/** The first and the last step of an operation's run. Each is one commit with what it writes. */
import { DateTime, Effect } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"
import { failOnDefect } from "#domain/operation/failOnDefect.ts"

/** Enters a state; false when the operation is in it already, or has ended. */
export const enter = Effect.fnUntraced(function* (
  operations: Pick<OperationStore["Service"], "transition">,
  operationId: OperationId,
  to: "running" | "retrying"
) {
  return yield* operations.transition({ operationId, to, at: yield* DateTime.now, error: null })
})

/** Ends an operation: `finish` writes what it did, `abandon` that a fault of the service ended it. */
export const lastStep = <R>(name: "finish" | "abandon", execute: Effect.Effect<void, never, R>) =>
  Activity.make({ name, execute }).annotate(ClusterSchema.WithTransaction, true)

interface Run<R> {
  readonly operationId: OperationId
  /** What the log says of a fault of the service. */
  readonly complaint: string
  /** Ends the operation after such a fault. */
  readonly abandon: Effect.Effect<void, never, R>
}

/** Begins an operation and runs its body, whose last step is `finish`. */
export const runOperation = <R, E2, R2>(
  operations: OperationStore["Service"],
  { abandon, complaint, operationId }: Run<R>,
  body: Effect.Effect<void, E2, R2>
) => {
  const begin = Activity.make({
    name: "begin",
    execute: Effect.asVoid(enter(operations, operationId, "running"))
  }).annotate(ClusterSchema.WithTransaction, true)
  return Effect.andThen(begin, body).pipe(
    failOnDefect(complaint, lastStep("abandon", abandon)),
    Effect.annotateLogs({ operationId })
  )
}
