/**
 * Who reads the log of an operation, and when: followers who have read equally far once for all of them, and each
 * follower every event once and in order, against the list of all that was stored.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { type Follower, OperationTails } from "#domain/execution/OperationTails.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"

const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId
const pollIntervalMs = 250

/** An operation with so many events; a read takes a millisecond, is noted, and fails while `faults` are left. */
const makeLog = (events: number) => ({ events, faults: 0, reads: [] as Array<number> })
type Log = ReturnType<typeof makeLog>

const readsOf = (log: Log) => (after: number, limit: number) =>
  Effect.gen(function* () {
    log.reads.push(after)
    const last = Math.min(log.events, after + limit)
    yield* Effect.sleep(1)
    if (log.faults > 0) {
      log.faults -= 1
      return yield* Effect.die(new Error("the database is down"))
    }
    return Array.from({ length: Math.max(0, last - after) }, (_, index) => ({
      operationId,
      sequence: after + index + 1,
      at: DateTime.makeUnsafe(0),
      kind: "noted",
      payload: null
    }))
  })

const settings: StreamSettings["Service"] = {
  maxOpen: 1,
  maxOpenPerTenant: 1,
  maxOpenPerKey: 1,
  maxOpenPerAddress: 1,
  maxOpenOfSessions: 1,
  maxOpenPerSession: 1,
  maxOpenOfSessionsPerTenant: 1,
  maxOpenOfSessionsPerAddress: 1,
  pollIntervalMs,
  recheckIntervalMs: 15_000
}

const tailsOf = (log: Log) => {
  const read = readsOf(log)
  return OperationTails.layer.pipe(
    Layer.provide(
      Layer.mock(ExecutionLog, {
        grown: (readers) =>
          Effect.sync(() => readers.filter(({ sequence }) => sequence < log.events).map((reader) => reader.operationId))
      })
    ),
    Layer.provide(Layer.mock(OperationStore, { events: (_, after, limit) => read(after, limit) })),
    Layer.provide(Layer.succeed(StreamSettings, settings))
  )
}

const polled = TestClock.adjust(pollIntervalMs + 10)
const settled = TestClock.adjust(10)

interface Received {
  readonly sequences: Array<number>
  /** Milliseconds for which it does not come back after it was given something. */
  pause: number
  faults: number
}

/** Reads on for ever, also after a fault. */
const listen = (follower: Follower, from: number, received: Received) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(follower.after(received.sequences.at(-1) ?? from))
    if (Exit.isFailure(exit)) received.faults += 1
    else received.sequences.push(...exit.value.map(({ sequence }) => sequence))
    yield* Effect.sleep(received.pause)
  }).pipe(Effect.forever)

/** A follower that has read up to an event. */
const following = Effect.fnUntraced(function* (from: number, pause = 0) {
  const received: Received = { sequences: [], pause, faults: 0 }
  const follower = yield* (yield* OperationTails).follow(operationId, from)
  yield* Effect.forkScoped(listen(follower, from, received))
  return received
})

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1)

const run = (log: Log, effect: Effect.Effect<void, never, OperationTails | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(tailsOf(log)))

const count = fc.integer({ min: 0, max: 150 })
const move = fc.oneof(
  fc.record({ do: fc.constant("append" as const), events: count, isSignalled: fc.boolean() }),
  fc.record({ do: fc.constant("follow" as const), behind: count, pause: fc.constantFrom(0, 0, 3, 400) }),
  fc.record({ do: fc.constant("fail" as const), times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("leave" as const), which: fc.nat() }),
  fc.record({ do: fc.constant("wait" as const), millis: fc.integer({ min: 0, max: 300 }) })
)

describe("the tail of an operation", () => {
  it("gives each follower every event once and in order, however slow or far behind, and whatever reads fail", () =>
    fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 25 }), async (moves) => {
        const log = makeLog(3)
        const checked = run(
          log,
          Effect.gen(function* () {
            const tails = yield* OperationTails
            const present: Array<{ from: number; received: Received; scope: Scope.Closeable }> = []
            for (const one of moves) {
              if (one.do === "append") {
                log.events += one.events
                if (one.isSignalled) tails.changed(operationId)
              } else if (one.do === "fail") log.faults += one.times
              else if (one.do === "wait") yield* TestClock.adjust(one.millis)
              else if (one.do === "follow") {
                const scope = yield* Scope.make()
                const from = Math.max(0, log.events - one.behind)
                present.push({ from, received: yield* Scope.provide(following(from, one.pause), scope), scope })
              } else if (present.length > 0) {
                const [left] = present.splice(one.which % present.length, 1)
                yield* Scope.close(left!.scope, Exit.void)
                assert.deepStrictEqual(
                  left!.received.sequences,
                  upTo(left!.from, left!.from + left!.received.sequences.length)
                )
              }
            }
            log.faults = 0
            // Each comes back once more, and what nobody was notified of is found by the poll.
            for (let turn = 0; turn < 12; turn += 1) yield* polled
            for (const { from, received, scope } of present) {
              assert.deepStrictEqual(received.sequences, upTo(from, log.events))
              yield* Scope.close(scope, Exit.void)
            }
          })
        )
        await Effect.runPromise(Effect.provide(checked, TestClock.layer()))
      }),
      { numRuns: 60 }
    ))

  it.effect("reads what is new once for all who have read equally far", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        const all = yield* Effect.forEach(upTo(0, 1_000), () => following(5))
        yield* settled
        assert.deepStrictEqual(log.reads, [5], "one read to see whether there is something")
        log.events = 6
        ;(yield* OperationTails).changed(operationId)
        yield* settled
        log.events = 7
        yield* polled
        assert.deepStrictEqual(log.reads, [5, 5, 6], "one read each time that there is something new")
        for (const { sequences } of all) assert.deepStrictEqual(sequences, [6, 7])
      })
    )
  })

  it.effect("lets no other follower wait for a slow one, which reads on its own when it comes back", () => {
    const log = makeLog(1)
    return run(
      log,
      Effect.gen(function* () {
        const { changed } = yield* OperationTails
        const fast = yield* following(1)
        const slow = yield* following(1, 500)
        yield* settled
        for (let events = 2; events <= 4; events += 1) {
          log.events = events
          changed(operationId)
          yield* settled
        }
        assert.deepStrictEqual(fast.sequences, [2, 3, 4])
        assert.deepStrictEqual(slow.sequences, [2])
        yield* TestClock.adjust(600)
        assert.deepStrictEqual(slow.sequences, [2, 3, 4])
        assert.deepStrictEqual(log.reads, [1, 1, 2, 3, 2])
      })
    )
  })

  it.effect("is not read while nothing is new, however far behind a follower is that does not come back", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        yield* (yield* OperationTails).follow(operationId, 1)
        const ahead = yield* following(5)
        yield* settled
        for (let poll = 0; poll < 4; poll += 1) yield* polled
        assert.deepStrictEqual(log.reads, [5])
        assert.deepStrictEqual(ahead.sequences, [])
      })
    )
  })

  it.effect("wakes those who wait behind an event that another follower has read", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        const behind = yield* following(5)
        yield* settled
        log.events = 6
        yield* following(6)
        yield* settled
        assert.deepStrictEqual(behind.sequences, [6])
      })
    )
  })

  it.effect("reads again what was signalled while it read", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        const received = yield* following(5)
        // The read has begun and has seen nothing.
        for (let turn = 0; turn < 5 && log.reads.length === 0; turn += 1) yield* Effect.yieldNow
        assert.lengthOf(log.reads, 1)
        log.events = 6
        ;(yield* OperationTails).changed(operationId)
        yield* settled
        assert.deepStrictEqual(received.sequences, [6])
      })
    )
  })

  it.effect("a read that fails is the fault of those who waited for it alone, and loses nothing", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        const { changed } = yield* OperationTails
        const received = yield* following(5)
        yield* settled
        log.faults = 1
        log.events = 6
        changed(operationId)
        yield* settled
        assert.deepStrictEqual(received, { sequences: [6], pause: 0, faults: 1 })
      })
    )
  })

  it.effect("a wait that was interrupted takes nothing from the one that follows it", () => {
    const log = makeLog(5)
    return run(
      log,
      Effect.gen(function* () {
        const { changed, follow } = yield* OperationTails
        const follower = yield* follow(operationId, 5)
        const waiting = yield* Effect.forkScoped(follower.after(5))
        yield* settled
        yield* Fiber.interrupt(waiting)
        log.events = 6
        changed(operationId)
        const next = yield* Effect.forkScoped(follower.after(5))
        yield* settled
        const page = yield* Fiber.join(next)
        assert.deepStrictEqual(
          page.map(({ sequence }) => sequence),
          [6]
        )
      })
    )
  })
})
