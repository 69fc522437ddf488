/**
 * The stream of one operation: what it is now, what the client has missed, what happens from then on, and its end. It
 * reads stored events alone, so any process can serve it, whichever carries the operation. Source: shapes 2.26 and M.
 */
import { Context, Effect, Layer, Option, type Scope, Stream } from "effect"
import { CursorInvalid, NotFound, type RateLimited } from "#domain/Errors.ts"
import { beginning, cursorOf, readCursor } from "#domain/execution/ExecutionCursor.ts"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { advance, emptyHistory, endOf, type ExecutionHistory, hasEnded } from "#domain/execution/ExecutionHistory.ts"
import { type ExecutionHead, ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { OperationSignals, type Watch } from "#domain/execution/OperationSignals.ts"
import { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { OperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"

/** Events that are read at once. */
const pageSize = 100

export class Executions extends Context.Service<
  Executions,
  {
    /**
     * Begins with a snapshot, goes on after `lastEventId` (or now, when it is left out) and ends after the result or
     * error. None when the client has seen the end. The stream is counted as open until the scope closes.
     */
    readonly follow: (
      operationId: OperationId,
      lastEventId: string | undefined
    ) => Effect.Effect<
      Option.Option<Stream.Stream<ExecutionEvent>>,
      NotFound | CursorInvalid | RateLimited,
      Caller | Scope.Scope
    >
  }
>()("ballast/domain/execution/Executions") {
  static readonly layer = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const signals = yield* OperationSignals
      const admission = yield* StreamAdmission

      /** The history that the client has seen, or undefined when the cursor is not of this operation. */
      const resume = Effect.fnUntraced(function* (head: ExecutionHead, lastEventId: string) {
        const { operation } = head
        const cursor = readCursor(lastEventId)
        if (cursor === undefined) return undefined
        if (cursor.sequence === 0) return cursor.at === beginning.at ? emptyHistory(operation.submittedAt) : undefined
        const isEnd = cursor.sequence === head.sequence + 1 && operation.finishedAt !== null
        if (cursor.sequence > head.sequence && !isEnd) return undefined
        const found = yield* log.historyAt(operation.operationId, Math.min(cursor.sequence, head.sequence))
        if (Option.isNone(found) || cursor.at !== cursorOf(found.value.at, 0).at) return undefined
        return isEnd ? ("seen" as const) : found.value
      })

      const start = Effect.fnUntraced(function* (head: ExecutionHead, lastEventId: string | undefined) {
        if (lastEventId === undefined)
          return yield* Effect.flatMap(
            log.historyAt(head.operation.operationId, head.sequence),
            Effect.fromOption
          ).pipe(Effect.orDie)
        const history = yield* resume(head, lastEventId)
        if (history !== undefined) return history
        return yield* new CursorInvalid({
          message: `Last-Event-ID is no id of the stream of ${head.operation.operationId}; send the last one that it sent, 0-0 for all, or none`,
          details: ["Last-Event-ID: not an id of this stream"]
        })
      })

      const follow = Effect.fn("Executions.follow")(function* (
        operationId: OperationId,
        lastEventId: string | undefined
      ) {
        const { tenantId } = yield* Caller
        const found = yield* log.head(tenantId, operationId)
        if (Option.isNone(found)) return yield* new NotFound({ message: `There is no operation ${operationId}` })
        const head = found.value
        const history = yield* start(head, lastEventId)
        if (history === "seen") return Option.none()
        yield* admission.enter(tenantId)
        const watch = yield* signals.watch(operationId, history.sequence)
        return Option.some(
          Stream.concat(Stream.make(snapshotOf(head, history)), pages({ log, store, watch }, head, history))
        )
      })

      return Executions.of({ follow })
    })
  )
}

interface Services {
  readonly log: ExecutionLog["Service"]
  readonly store: OperationStore["Service"]
  readonly watch: Watch
}

/**
 * The operation as it is now, under the id from which the rest follows: whoever has seen no more resumes from there.
 */
const snapshotOf = ({ at, operation, sequence }: ExecutionHead, history: ExecutionHistory): ExecutionEvent => ({
  operationId: operation.operationId,
  cursor: history.sequence === 0 ? beginning : cursorOf(history.at, history.sequence),
  at: history.at,
  body: { kind: "execution.snapshot", operation, includes: cursorOf(at, sequence) }
})

/** What comes after a history, read page by page, until the end. */
const pages = ({ log, store, watch }: Services, { operation }: ExecutionHead, from: ExecutionHistory) =>
  Stream.paginate(from, (history) =>
    Effect.gen(function* () {
      if (hasEnded(history)) {
        const steps = history.state === "completed" ? yield* log.steps(operation.operationId) : []
        return [[endOf(operation, history, steps)], Option.none()] as const
      }
      const events = yield* store.events(operation.operationId, history.sequence, pageSize)
      if (events.length === 0) yield* watch.changed
      const told: Array<ExecutionEvent> = []
      let next = history
      for (const event of events) {
        if (hasEnded(next)) break
        const [after, telling] = advance(next, event)
        next = after
        told.push(telling)
      }
      watch.seen(next.sequence)
      return [told, Option.some(next)] as const
    })
  )
