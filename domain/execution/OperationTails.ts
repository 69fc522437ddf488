/**
 * New events in the log of an operation, shared by all its followers. Followers at the same position wait as one group:
 * the events after that position are read once, and all of them receive the same. A follower that comes back later than
 * the others reads on its own: nothing waits for it, and nothing is kept for it.
 *
 * A group reads when its log may have grown. This process's own engine signals that at once. One poller a process reads
 * all followed logs in one statement, for what other processes wrote and for lost signals; it stops while nothing is
 * followed. A signal that is lost or comes twice costs time, never an event.
 */
import { Context, Duration, Effect, Exit, FiberSet, Latch, Layer, type Scope } from "effect"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { type OperationEvent, OperationStore } from "#domain/operation/OperationStore.ts"
import { pollWhileOpen } from "#domain/effects/pollWhileOpen.ts"

/** Events that are read at once. */
const pageSize = 100

/** Followers that are handed a page before connections get their turn. */
const maxHanded = 128

/** Stored events in order, none left out; never empty. All receivers share one value. */
export type OperationEventPage = ReadonlyArray<OperationEvent>

export interface Follower {
  /**
   * The events after a number, 100 at most; waits until there are some. A read that fails is the defect of every
   * waiter; a further call at the same position misses nothing. One wait at a time.
   */
  readonly after: (sequence: number) => Effect.Effect<OperationEventPage>
}

/** How much of a log a read took in: the signals before it, and the furthest event that was known then. */
interface Extent {
  readonly signals: number
  readonly furthest: number
}

type Give = (page: Exit.Exit<OperationEventPage>, read: Extent) => void

/** The followers that wait at one position of a log. */
class Group {
  readonly sequence: number
  readonly waiting = new Set<Give>()
  /** Up to where the log is known to have nothing after the position; undefined before the first read. */
  read: Extent | undefined
  isReading = false

  constructor(sequence: number, read: Extent | undefined) {
    this.sequence = sequence
    this.read = read
  }
}

/** The end of one operation's log, as this process last saw it. */
class Tail {
  readonly operationId: OperationId
  readonly groups = new Map<number, Group>()
  followers = 0
  signals = 0
  /** The last event that a follower in this process has seen. */
  furthest: number
  readonly #read: (tail: Tail, group: Group) => void

  constructor(operationId: OperationId, furthest: number, read: (tail: Tail, group: Group) => void) {
    this.operationId = operationId
    this.furthest = furthest
    this.#read = read
  }

  /** There may be events that the group has not read. */
  isBehind({ read, sequence }: Group): boolean {
    if (read === undefined || read.signals < this.signals) return true
    return sequence < this.furthest && read.furthest < this.furthest
  }

  /** A follower waits for a signal. */
  get isIdle(): boolean {
    for (const { isReading } of this.groups.values()) if (!isReading) return true
    return false
  }

  /** Has a group read that is behind and does not yet. */
  wake(group: Group): void {
    if (group.isReading || !this.isBehind(group)) return
    group.isReading = true
    this.#read(this, group)
  }

  signal(): void {
    this.signals += 1
    for (const group of this.groups.values()) this.wake(group)
  }

  reach(sequence: number): void {
    if (sequence <= this.furthest) return
    this.furthest = sequence
    for (const group of this.groups.values()) this.wake(group)
  }

  /** A waiting group has seen at least as much as a follower that joins it. Returns how to leave. */
  join(sequence: number, known: Extent | undefined, give: Give): () => void {
    const group = this.groups.get(sequence) ?? new Group(sequence, known)
    this.groups.set(sequence, group)
    group.waiting.add(give)
    this.wake(group)
    return () => {
      group.waiting.delete(give)
      if (group.waiting.size === 0) this.disband(group)
    }
  }

  /** A follower that comes to its position from now on is a group of its own. */
  disband(group: Group): void {
    if (this.groups.get(group.sequence) === group) this.groups.delete(group.sequence)
  }
}

/** A follower that received all of a read does not read again before a signal. */
const followerOf = (tail: Tail): Follower => {
  let position = -1
  let known: Extent | undefined
  return {
    after: (sequence) =>
      Effect.callback<OperationEventPage>((resume) => {
        const leave = tail.join(sequence, sequence === position ? known : undefined, (page, read) => {
          if (Exit.isSuccess(page)) {
            position = page.value.at(-1)!.sequence
            known = page.value.length < pageSize ? read : undefined
          }
          resume(page)
        })
        return Effect.sync(leave)
      })
  }
}

/** Gives a page to all of a group, which no follower can join any more. */
const hand = Effect.fnUntraced(function* ({ waiting }: Group, page: Exit.Exit<OperationEventPage>, read: Extent) {
  let handed = 0
  for (const give of waiting) {
    waiting.delete(give)
    give(page, read)
    handed += 1
    if (handed % maxHanded === 0) yield* Effect.yieldNow
  }
})

/**
 * What is new in an operation's log.
 *
 * **When to use**
 *
 * Use `follow` to wait for events, and `changed` where this process has written some. It bounds how often the database
 * is read, whatever the number of followers.
 */
export class OperationTails extends Context.Service<
  OperationTails,
  {
    /** Follows the log until the scope closes. `furthest` is the last event that the follower has seen. */
    readonly follow: (operationId: OperationId, furthest: number) => Effect.Effect<Follower, never, Scope.Scope>
    /**
     * Wakes who follows the operation. Callers call it after the commit; it costs one map lookup when nobody follows.
     */
    readonly changed: (operationId: OperationId) => void
  }
>()("ballast/domain/execution/OperationTails") {
  static readonly layer = Layer.effect(
    OperationTails,
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const store = yield* OperationStore
      const { pollIntervalMs } = yield* StreamSettings
      const run = yield* FiberSet.makeRuntime()
      const tails = new Map<OperationId, Tail>()
      const hasSubscribers = Latch.makeUnsafe(false)

      const read = (tail: Tail, group: Group): Effect.Effect<void> =>
        Effect.gen(function* () {
          do {
            // All followers that come in this turn share one read.
            yield* Effect.yieldNow
            if (group.waiting.size === 0) return
            const extent = { signals: tail.signals, furthest: tail.furthest }
            group.read = extent
            const page = yield* Effect.exit(store.events(tail.operationId, group.sequence, pageSize))
            if (Exit.isFailure(page) || page.value.length > 0) {
              tail.disband(group)
              if (Exit.isSuccess(page)) tail.reach(page.value.at(-1)!.sequence)
              return yield* hand(group, page, extent)
            }
          } while (tail.isBehind(group))
          group.isReading = false
        })

      const tailOf = (operationId: OperationId, furthest: number): Tail => {
        const tail = tails.get(operationId) ?? new Tail(operationId, furthest, (...position) => run(read(...position)))
        tails.set(operationId, tail)
        tail.reach(furthest)
        return tail
      }

      const enter = (operationId: OperationId, furthest: number) =>
        Effect.sync(() => {
          const tail = tailOf(operationId, furthest)
          tail.followers += 1
          hasSubscribers.openUnsafe()
          return tail
        })

      const leave = (tail: Tail) =>
        Effect.sync(() => {
          tail.followers -= 1
          if (tail.followers === 0) tails.delete(tail.operationId)
          if (tails.size === 0) hasSubscribers.closeUnsafe()
        })

      const follow = (operationId: OperationId, furthest: number) =>
        Effect.map(Effect.acquireRelease(enter(operationId, furthest), leave), followerOf)

      const changed = (operationId: OperationId): void => tails.get(operationId)?.signal()

      /** A group that reads, or whose client does, is left out: it reads again afterwards. */
      const poll = Effect.gen(function* () {
        const idle = [...tails.values()].filter(({ isIdle }) => isIdle)
        const readers = idle.map(({ furthest, operationId }) => ({ operationId, sequence: furthest }))
        for (const operationId of yield* log.grown(readers)) changed(operationId)
      })

      const complaint = "Events of other processes could not be read"
      yield* pollWhileOpen(hasSubscribers, poll, { complaint, interval: Duration.millis(pollIntervalMs) })

      return OperationTails.of({ follow, changed })
    })
  )
}
