/** Port: what streams of operations read besides their events (OperationStore). */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { LandedStep } from "#domain/execution/ExecutionEvent.ts"
import type { ExecutionHistory } from "#domain/execution/ExecutionHistory.ts"
import type { PageRequest } from "#domain/values/Cursor.ts"
import type { ReadAccess } from "#domain/execution/ExecutionReader.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import type { OperationFilter } from "#domain/operation/OperationStore.ts"

/** An operation and the last event that it includes; of a finished one that is the change to its terminal state. */
export interface ExecutionHead {
  readonly operation: Operation
  readonly sequence: number
  readonly at: DateTime.Utc
}

/** How far a watcher of an operation has read. */
export interface Reader {
  readonly operationId: OperationId
  readonly sequence: number
}

/**
 * What streams of operations read besides events.
 *
 * **When to use**
 *
 * Use in services of this context alone.
 */
export class ExecutionLog extends Context.Service<
  ExecutionLog,
  {
    /** None when the reader has no such operation. */
    readonly head: (access: ReadAccess, operationId: OperationId) => Effect.Effect<Option.Option<ExecutionHead>>
    /** Newest first; one row more than the limit when there is a next page. */
    readonly list: (
      access: ReadAccess,
      filter: Omit<OperationFilter, "since">,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ExecutionHead>>
    /** The history up to an event; none when there is no such event. It never changes. */
    readonly historyAt: (operationId: OperationId, sequence: number) => Effect.Effect<Option.Option<ExecutionHistory>>
    /** Those of the operations that have events which their reader has not read, in one statement. */
    readonly grown: (readers: ReadonlyArray<Reader>) => Effect.Effect<ReadonlyArray<OperationId>>
    /** What a finished operation left on the chains, in order. */
    readonly steps: (operationId: OperationId) => Effect.Effect<ReadonlyArray<LandedStep>>
  }
>()("ballast/domain/execution/ExecutionLog") {}
