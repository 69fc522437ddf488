/**
 * Operations as executions: as they are now, with all that happened, with what they did, and as streams. Each way reads
 * the one log of an operation's events, so all of them say the same. Source: shapes 2.26, J to M.
 */
import { Context, type DateTime, Effect, Layer, Option, type Scope } from "effect"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { type CursorInvalid, NotFound, type RateLimited } from "#domain/errors/Errors.ts"
import type { ExecutionEvent, LandedStep } from "#domain/execution/ExecutionEvent.ts"
import { advance, emptyHistory, endOf } from "#domain/execution/ExecutionHistory.ts"
import { type ExecutionHead, ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { type FollowedExecution, makeFollow } from "#domain/execution/followExecution.ts"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { type OperationFilter, OperationStore } from "#domain/operation/OperationStore.ts"

/** A page of what happened to an operation. */
export interface Timeline extends ExecutionHead {
  /** Those of the stream but its snapshot, oldest first. */
  readonly events: ReadonlyArray<ExecutionEvent>
  /** There are more after the last one. */
  readonly hasMore: boolean
  /** What it left on the chains, also when it failed; empty until it has ended. */
  readonly steps: ReadonlyArray<LandedStep>
  /** The operation was `retrying` on its way. */
  readonly recovered: boolean
}

/**
 * Operations as executions, and as streams of events.
 *
 * **When to use**
 *
 * Use to show an operation to its readers, by key or by session. `Operations` is the same list for keys alone,
 * with reports.
 */
export class Executions extends Context.Service<
  Executions,
  {
    readonly get: (operationId: OperationId) => Effect.Effect<ExecutionHead, NotFound, ExecutionReader>
    /** Events after a number of the stream, 0 for the first. */
    readonly timeline: (
      operationId: OperationId,
      after: number,
      limit: number
    ) => Effect.Effect<Timeline, NotFound, ExecutionReader>
    /** The end of the stream, result or error; none until the operation has ended. */
    readonly end: (
      operationId: OperationId
    ) => Effect.Effect<readonly [ExecutionHead, Option.Option<ExecutionEvent>], NotFound, ExecutionReader>
    /** Newest first. */
    readonly list: (
      query: PageQuery & Omit<OperationFilter, "since">
    ) => Effect.Effect<Page<ExecutionHead>, CursorInvalid, ExecutionReader>
    /**
     * Begins with a snapshot, goes on after `lastEventId` (or now, when it is left out) and ends after the result or
     * error. None when the client has seen the end. The stream is counted as open until the scope closes, and is to be
     * ended with its permit.
     */
    readonly follow: (
      operationId: OperationId,
      lastEventId: string | undefined
    ) => Effect.Effect<
      Option.Option<FollowedExecution>,
      NotFound | CursorInvalid | RateLimited,
      ExecutionReader | Scope.Scope
    >
  }
>()("ballast/domain/execution/Executions") {
  static readonly layer = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const admission = yield* StreamAdmission
      const followFrom = yield* makeFollow({ log, tails: yield* OperationTails })

      const get = Effect.fn("Executions.get")(function* (operationId: OperationId) {
        const found = yield* log.head(yield* ExecutionReader, operationId)
        if (Option.isNone(found)) return yield* new NotFound({ message: `There is no operation ${operationId}` })
        return found.value
      })

      const historyAt = (operationId: OperationId, sequence: number, submittedAt: DateTime.Utc) =>
        sequence === 0
          ? Effect.succeed(emptyHistory(submittedAt))
          : Effect.orDie(Effect.flatMap(log.historyAt(operationId, sequence), Effect.fromOption))

      /** Up to the last event that the head includes, and what it left on the chains. */
      const standingOf = Effect.fnUntraced(function* ({ operation, sequence }: ExecutionHead) {
        const { finishedAt, operationId, submittedAt } = operation
        const history = yield* historyAt(operationId, sequence, submittedAt)
        return { history, steps: finishedAt === null ? [] : yield* log.steps(operationId) }
      })

      const end = Effect.fn("Executions.end")(function* (operationId: OperationId) {
        const head = yield* get(operationId)
        if (head.operation.finishedAt === null) return [head, Option.none()] as const
        const { history, steps } = yield* standingOf(head)
        return [head, Option.some(endOf(head.operation, history, steps))] as const
      })

      const timeline = Effect.fn("Executions.timeline")(function* (
        operationId: OperationId,
        after: number,
        limit: number
      ) {
        const head = yield* get(operationId)
        const { operation, sequence: last } = head
        const { history, steps } = yield* standingOf(head)
        // What a late writer adds behind the end is not of the stream.
        const room = Math.max(0, Math.min(limit, last - after))
        const events: Array<ExecutionEvent> = []
        if (room > 0) {
          let read = yield* historyAt(operationId, after, operation.submittedAt)
          for (const stored of yield* store.events(operationId, after, room)) {
            const [next, event] = advance(read, stored)
            read = next
            events.push(event)
          }
        }
        const isEnded = operation.finishedAt !== null
        if (isEnded && after + events.length === last && events.length < limit)
          events.push(endOf(operation, history, steps))
        const hasMore = after + events.length < (isEnded ? last + 1 : last)
        return { ...head, events, hasMore, steps, recovered: history.recovered }
      })

      const list = Effect.fn("Executions.list")(function* (query: PageQuery & Omit<OperationFilter, "since">) {
        const request = yield* pageRequest("executions", query)
        const rows = yield* log.list(yield* ExecutionReader, query, request)
        return page({ list: "executions", limit: request.limit, rows }, ({ operation }) => ({
          createdAt: operation.submittedAt,
          id: operation.operationId
        }))
      })

      const follow = Effect.fn("Executions.follow")(function* (
        operationId: OperationId,
        lastEventId: string | undefined
      ) {
        const head = yield* get(operationId)
        return yield* followFrom(head, lastEventId, Effect.flatMap(ExecutionReader, admission.enter))
      })

      return Executions.of({ get, timeline, end, list, follow })
    })
  )
}
