/** Follows an operation: a snapshot, then each event once and in order, until its result or error. */
import type { Procedures } from "#client/Contract.ts"
import { type Following, follow, mapped } from "#client/transport/follow.ts"

export type ExecutionEvent = Procedures["v2.executions.stream"]["output"]

const isEnd = ({ kind }: ExecutionEvent): boolean => kind === "execution.result" || kind === "execution.error"

/** `read` takes an event out of what the wire wraps it in. */
export const executionEvents = (
  following: Following,
  read: (data: unknown) => ExecutionEvent
): AsyncIterable<ExecutionEvent> => ({
  [Symbol.asyncIterator]: () => {
    let sequence = -1

    /** The service repeats a snapshot on each connection; a follower has its own state by then. */
    const isNews = (event: ExecutionEvent): boolean =>
      event.kind === "execution.snapshot" ? sequence === -1 : event.sequence > sequence

    const newsOf = (data: unknown): ExecutionEvent | undefined => {
      const event = read(data)
      if (!isNews(event)) return undefined
      sequence = event.sequence
      return event
    }
    return mapped(follow(following), newsOf, isEnd)[Symbol.asyncIterator]()
  }
})
