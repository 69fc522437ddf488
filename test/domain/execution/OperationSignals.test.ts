/** Who is woken for what: each that waits and has something to read, nobody for the sake of another. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ExecutionLog } from "#domain/execution/ExecutionLog.ts"
import { OperationSignals, type Watch } from "#domain/execution/OperationSignals.ts"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import type { OperationId } from "#domain/Ids.ts"

const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId
const pollIntervalMs = 250

/** An operation with so many events. */
const signalsOf = (stored: { events: number }) =>
  OperationSignals.layer.pipe(
    Layer.provide(
      Layer.mock(ExecutionLog, {
        grown: (readers) =>
          Effect.sync(() =>
            readers.filter(({ sequence }) => sequence < stored.events).map((reader) => reader.operationId)
          )
      })
    ),
    Layer.provide(Layer.mock(StreamSettings, { pollIntervalMs } as StreamSettings["Service"]))
  )

const polled = TestClock.adjust(pollIntervalMs)

/** How often a follower was woken; it waits again after each time, and reads nothing. */
const counting = Effect.fnUntraced(function* ({ changed }: Watch) {
  const woken = { times: 0 }
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        changed,
        Effect.sync(() => (woken.times += 1))
      )
    )
  )
  return woken
})

describe("signals of an operation", () => {
  it.effect("those that have read all there is sleep on, however far behind another one is that does not read", () => {
    const stored = { events: 5 }
    return Effect.gen(function* () {
      const { watch } = yield* OperationSignals
      const ahead = yield* counting(yield* watch(operationId, 5))
      const stuck = yield* watch(operationId, 1)
      yield* polled
      yield* polled
      assert.strictEqual(ahead.times, 0)
      stored.events = 6
      yield* polled
      assert.strictEqual(ahead.times, 1)
      const late = yield* Effect.forkScoped(stuck.changed)
      yield* polled
      yield* Fiber.join(late)
    }).pipe(Effect.provide(signalsOf(stored)))
  })

  it.effect("one that waits while it is behind the others is woken, although nothing new was stored", () => {
    const stored = { events: 5 }
    return Effect.gen(function* () {
      const { watch } = yield* OperationSignals
      const ahead = yield* watch(operationId, 4)
      const behind = yield* Effect.forkScoped((yield* watch(operationId, 4)).changed)
      ahead.seen(5)
      yield* polled
      yield* Fiber.join(behind)
    }).pipe(Effect.provide(signalsOf(stored)))
  })

  it.effect("a signal that comes while a follower reads is heard when it waits again, and several of them once", () =>
    Effect.gen(function* () {
      const { changed, watch } = yield* OperationSignals
      const follower = yield* watch(operationId, 5)
      changed(operationId)
      changed(operationId)
      yield* follower.changed
      const next = yield* Effect.forkScoped(follower.changed)
      yield* polled
      assert.isUndefined(next.pollUnsafe())
      changed(operationId)
      yield* Fiber.join(next)
    }).pipe(Effect.provide(signalsOf({ events: 5 })))
  )

  it.effect("a wait that was interrupted leaves nothing that swallows a later signal", () =>
    Effect.gen(function* () {
      const { changed, watch } = yield* OperationSignals
      const follower = yield* watch(operationId, 5)
      const waiting = yield* Effect.forkScoped(follower.changed)
      yield* polled
      yield* Fiber.interrupt(waiting)
      changed(operationId)
      yield* follower.changed
    }).pipe(Effect.provide(signalsOf({ events: 5 })))
  )
})
