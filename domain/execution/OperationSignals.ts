/**
 * Wakes who follows an operation when there may be something new to read. A signal carries nothing: events are read
 * from the store, so one that is lost or comes twice costs time, never an event.
 *
 * Signals come from this process's own engine, at once, and from one poller a process, which asks for all that is
 * followed in one statement: it sees what other processes wrote, and what was missed. It rests while nobody follows
 * anything.
 */
import { Context, Duration, Effect, Latch, Layer, Queue, type Scope } from "effect"
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

interface Watcher {
  sequence: number
  readonly signals: Queue.Queue<void>
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
        // One signal waits at most; a second one would say the same.
        for (const { signals } of watched.get(operationId) ?? []) Queue.offerUnsafe(signals, undefined)
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
        const watcher: Watcher = { sequence, signals: yield* Queue.sliding<void>(1) }
        yield* Effect.acquireRelease(
          Effect.sync(() => add(operationId, watcher)),
          () => Effect.sync(() => remove(operationId, watcher))
        )
        return {
          changed: Queue.take(watcher.signals),
          seen: (read: number) => {
            watcher.sequence = read
          }
        }
      })

      const slowest = (watchers: ReadonlySet<Watcher>): number =>
        [...watchers].reduce((least, { sequence }) => Math.min(least, sequence), Infinity)

      const poll = Effect.gen(function* () {
        const readers = [...watched].map(([operationId, watchers]) => ({ operationId, sequence: slowest(watchers) }))
        for (const operationId of yield* log.grown(readers)) changed(operationId)
      })

      const complaint = "Events of other processes could not be looked for"
      yield* pollWhileOpen(anyone, poll, { complaint, interval: Duration.millis(pollIntervalMs) })

      return OperationSignals.of({ watch, changed })
    })
  )
}
