/**
 * The stream of one operation: what it is now, what the client has missed, what happens from then on, and its end. It
 * reads stored events alone, so any process can serve it, whichever carries the operation. Source: shapes 2.26 and M.
 */
import { Effect, Option, type Scope, Stream } from "effect"
import { shared } from "#domain/batched.ts"
import { CursorInvalid, type RateLimited } from "#domain/Errors.ts"
import { beginning, cursorOf, readCursor } from "#domain/execution/ExecutionCursor.ts"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { advance, emptyHistory, endOf, type ExecutionHistory, hasEnded } from "#domain/execution/ExecutionHistory.ts"
import type { ExecutionHead, ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import type { OperationSignals, Watch } from "#domain/execution/OperationSignals.ts"
import type { OperationId } from "#domain/Ids.ts"
import type { OperationEvent, OperationStore } from "#domain/operation/OperationStore.ts"

/** Events that are read at once. */
const pageSize = 100

interface Services {
  readonly log: ExecutionLog["Service"]
  readonly store: OperationStore["Service"]
  readonly signals: OperationSignals["Service"]
}

/** The key of a page: what comes after an event of an operation. */
const pageKey = (operationId: OperationId, sequence: number) => `${operationId} ${sequence}`

/** Lives as long as the scope. */
export const makeFollow = Effect.fnUntraced(function* ({ log, signals, store }: Services) {
  /** Thousands may follow one operation: what is new to all of them is read once. */
  const pageAfter = yield* shared((key: string) => {
    const [operationId, sequence] = key.split(" ")
    return store.events(operationId as OperationId, Number(sequence), pageSize)
  })

  /** What a stored event gives, whoever reads it: it depends on what is stored before it alone. */
  const known = new WeakMap<OperationEvent, readonly [ExecutionHistory, ExecutionEvent]>()
  const advanceOnce = (history: ExecutionHistory, event: OperationEvent) => {
    const told = known.get(event) ?? advance(history, event)
    known.set(event, told)
    return told
  }

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
      return yield* Effect.flatMap(log.historyAt(head.operation.operationId, head.sequence), Effect.fromOption).pipe(
        Effect.orDie
      )
    const history = yield* resume(head, lastEventId)
    if (history !== undefined) return history
    return yield* new CursorInvalid({
      message: `Last-Event-ID is no id of the stream of ${head.operation.operationId}; send the last one that it sent, 0-0 for all, or none`,
      details: ["Last-Event-ID: not an id of this stream"]
    })
  })

  /** What comes after a history, read page by page, until the end. A page that is not full is followed by a wait. */
  const pages = ({ operation }: ExecutionHead, from: ExecutionHistory, watch: Watch) =>
    Stream.paginate({ history: from, isAtEnd: false }, ({ history, isAtEnd }) =>
      Effect.gen(function* () {
        if (hasEnded(history)) {
          const steps = history.state === "completed" ? yield* log.steps(operation.operationId) : []
          return [[endOf(operation, history, steps)], Option.none()] as const
        }
        if (isAtEnd) yield* watch.changed
        const events = yield* pageAfter(pageKey(operation.operationId, history.sequence))
        const read: Array<ExecutionEvent> = []
        let next = history
        for (const event of events) {
          if (hasEnded(next)) break
          const [after, one] = advanceOnce(next, event)
          next = after
          read.push(one)
        }
        watch.seen(next.sequence)
        return [read, Option.some({ history: next, isAtEnd: events.length < pageSize })] as const
      })
    )

  /** `enter` counts the stream as open; none when the client has seen the end. */
  return Effect.fnUntraced(function* <R>(
    head: ExecutionHead,
    lastEventId: string | undefined,
    enter: Effect.Effect<void, RateLimited, R | Scope.Scope>
  ) {
    const history = yield* start(head, lastEventId)
    if (history === "seen") return Option.none()
    yield* enter
    const watch = yield* signals.watch(head.operation.operationId, history.sequence)
    return Option.some(Stream.concat(Stream.make(snapshotOf(head, history)), pages(head, history, watch)))
  })
})

/**
 * The operation as it is now, under the id from which the rest follows: whoever has seen no more resumes from there.
 */
const snapshotOf = ({ at, operation, sequence }: ExecutionHead, history: ExecutionHistory): ExecutionEvent => {
  const { completedSteps, error, state, totalSteps } = history
  return {
    operationId: operation.operationId,
    cursor: history.sequence === 0 ? beginning : cursorOf(history.at, history.sequence),
    at: history.at,
    body: {
      kind: "execution.snapshot",
      operation,
      standing: { state, error, completedSteps, totalSteps },
      includes: cursorOf(at, sequence)
    }
  }
}
