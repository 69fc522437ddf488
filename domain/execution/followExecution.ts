/**
 * The stream of one operation: what it is now, what the client has missed, what happens from then on, and its end. It
 * reads stored events alone, so any process can serve it, whichever runs the operation. Source: shapes 2.26 and M.
 */
import { Effect, Option, type Scope, Stream } from "effect"
import { shared } from "#domain/effects/batched.ts"
import { CursorInvalid, type RateLimited } from "#domain/errors/Errors.ts"
import { beginning, cursorOf, readCursor } from "#domain/execution/ExecutionCursor.ts"
import type { ExecutionEvent } from "#domain/execution/ExecutionEvent.ts"
import { advance, emptyHistory, endOf, type ExecutionHistory, hasEnded } from "#domain/execution/ExecutionHistory.ts"
import type { ExecutionHead, ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import type { StreamPermit } from "#domain/execution/StreamPermit.ts"
import type { OperationEventPage, Follower, OperationTails } from "#domain/execution/OperationTails.ts"

interface Services {
  readonly log: ExecutionLog["Service"]
  readonly tails: OperationTails["Service"]
}

/** The stream of an operation, and the permission to have it open; whoever sends it ends it with that. */
export interface FollowedExecution {
  readonly events: Stream.Stream<ExecutionEvent>
  readonly permit: StreamPermit
}

/** The events of a page, and the history after it. */
interface Followed {
  readonly history: ExecutionHistory
  readonly events: ReadonlyArray<ExecutionEvent>
}

const eventsIn = (from: ExecutionHistory, page: OperationEventPage): Followed => {
  const events: Array<ExecutionEvent> = []
  let history = from
  for (const stored of page) {
    if (hasEnded(history)) break
    const [next, event] = advance(history, stored)
    history = next
    events.push(event)
  }
  return { history, events }
}

/** Follows until the scope closes. */
export const makeFollow = Effect.fnUntraced(function* ({ log, tails }: Services) {
  const stepsOf = yield* shared(log.steps)

  /** The events of a page are the same for every follower: they depend on what is stored before it alone. */
  const followed = new WeakMap<OperationEventPage, Followed>()
  const eventsOnce = (history: ExecutionHistory, page: OperationEventPage): Followed => {
    const known = followed.get(page) ?? eventsIn(history, page)
    followed.set(page, known)
    return known
  }

  /** The end of a history, shared by all followers that read it together. */
  const ends = new WeakMap<ExecutionHistory, ExecutionEvent>()
  const endOnce = Effect.fnUntraced(function* ({ operation }: ExecutionHead, history: ExecutionHistory) {
    const steps = history.state === "completed" ? yield* stepsOf(operation.operationId) : []
    const end = ends.get(history) ?? endOf(operation, history, steps)
    ends.set(history, end)
    return end
  })

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

  /** The snapshot, then what comes after a history, page by page, until the end. */
  const events = (head: ExecutionHead, from: ExecutionHistory, follower: Follower) =>
    Stream.paginate<ExecutionHistory | undefined, ExecutionEvent>(undefined, (history) => {
      if (history === undefined) return Effect.succeed([[snapshotOf(head, from)], Option.some(from)] as const)
      if (hasEnded(history)) return Effect.map(endOnce(head, history), (end) => [[end], Option.none()] as const)
      return Effect.map(follower.after(history.sequence), (page) => {
        const next = eventsOnce(history, page)
        return [next.events, Option.some(next.history)] as const
      })
    })

  /** `enter` counts the stream as open; none when the client has seen the end. */
  return Effect.fnUntraced(function* <R>(
    head: ExecutionHead,
    lastEventId: string | undefined,
    enter: Effect.Effect<StreamPermit, RateLimited, R | Scope.Scope>
  ) {
    const history = yield* start(head, lastEventId)
    if (history === "seen") return Option.none()
    const permit = yield* enter
    const follower = yield* tails.follow(head.operation.operationId, head.sequence)
    return Option.some<FollowedExecution>({ events: events(head, history, follower), permit })
  })
})

/**
 * The operation as it is now, under the id from which the rest follows: a client that has seen no more resumes from
 * there.
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
