/**
 * Wakes who follows an operation when there may be something new to read. A signal carries nothing: events are read
 * from the store, so one that is lost or comes twice costs time, never an event.
 *
 * Signals come from this process's own engine, at once, and from one poller a process, which asks for all that is
 * followed in one statement: it sees what other processes wrote, and what was missed. It rests while nobody follows
 * anything.
 */
import { Context, Duration, Effect, Latch, Layer, type Scope } from "effect"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { pollWhileOpen } from "#domain/pollWhileOpen.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import type { OperationId } from "#domain/Ids.ts"

/** One follower's ear. */
export interface Watch {
  /** Answers after a signal that came since the last answer. */
  readonly changed: Effect.Effect<void>
  /** The last event that the follower has read. */
  readonly seen: (sequence: number) => void
}

/** What is kept of a follower. One signal waits for it at most; a second one would say the same. */
class Watcher implements Watch {
  sequence: number
  #isSignalled = false
  #wake: (() => void) | undefined

  constructor(sequence: number) {
    this.sequence = sequence
  }

  readonly changed: Effect.Effect<void> = Effect.callback<void>((resume) => {
    const wake = () => {
      this.#isSignalled = false
      this.#wake = undefined
      resume(Effect.void)
    }
    if (this.#isSignalled) return wake()
    this.#wake = wake
    return Effect.sync(() => (this.#wake = undefined))
  })

  seen(sequence: number): void {
    this.sequence = sequence
  }

  /** It has read all that it knew of, and does nothing until a signal. */
  get isWaiting(): boolean {
    return this.#wake !== undefined
  }

  signal(): void {
    this.#isSignalled = true
    this.#wake?.()
  }
}

export class OperationSignals extends Context.Service<
  OperationSignals,
  {
    /** Hears of the operation until the scope closes. */
    readonly watch: (operationId: OperationId, sequence: number) => Effect.Effect<Watch, never, Scope.Scope>
    /** To be called after the commit. Costs one look into a map. */
    readonly changed: (operationId: OperationId) => void
  }
>()("ballast/domain/execution/OperationSignals") {
  static readonly layer = Layer.effect(
    OperationSignals,
    Effect.gen(function* () {
      const log = yield* ExecutionLog
      const { pollIntervalMs } = yield* StreamSettings
      const watched = new Map<OperationId, Set<Watcher>>()
      const anyone = Latch.makeUnsafe(false)

      const changed = (operationId: OperationId): void => {
        for (const watcher of watched.get(operationId) ?? []) watcher.signal()
      }

      const add = (operationId: OperationId, watcher: Watcher) => {
        const watchers = watched.get(operationId) ?? new Set()
        watched.set(operationId, watchers.add(watcher))
        anyone.openUnsafe()
      }

      const remove = (operationId: OperationId, watcher: Watcher) => {
        const watchers = watched.get(operationId)
        watchers?.delete(watcher)
        if (watchers?.size === 0) watched.delete(operationId)
        if (watched.size === 0) anyone.closeUnsafe()
      }

      const watch = Effect.fnUntraced(function* (operationId: OperationId, sequence: number) {
        const watcher = new Watcher(sequence)
        yield* Effect.acquireRelease(
          Effect.sync(() => add(operationId, watcher)),
          () => Effect.sync(() => remove(operationId, watcher))
        )
        return watcher
      })

      const furthest = (watchers: ReadonlySet<Watcher>): number => {
        let most = 0
        for (const { sequence } of watchers) if (sequence > most) most = sequence
        return most
      }

      /**
       * Wakes those that wait and have not seen what there is. One that reads, or whose client does, is on its way: a
       * signal would have it, and all others, read again for nothing.
       */
      const poll = Effect.gen(function* () {
        const readers = [...watched].map(([operationId, watchers]) => ({ operationId, sequence: furthest(watchers) }))
        const grown = new Set(yield* log.grown(readers))
        for (const [operationId, watchers] of watched) {
          const [isGrown, most] = [grown.has(operationId), furthest(watchers)]
          for (const watcher of watchers) {
            if (watcher.isWaiting && (isGrown || watcher.sequence < most)) watcher.signal()
          }
        }
      })

      const complaint = "Events of other processes could not be looked for"
      yield* pollWhileOpen(anyone, poll, { complaint, interval: Duration.millis(pollIntervalMs) })

      return OperationSignals.of({ watch, changed })
    })
  )
}
