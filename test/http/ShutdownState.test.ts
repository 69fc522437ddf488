/** Which callbacks run when the shutdown begins. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { ShutdownState } from "#http/ShutdownState.ts"

describe("the state of a shutdown", () => {
  it.effect("calls back once when it begins, at once when it has begun, and not when that was called off", () =>
    Effect.gen(function* () {
      const { begin, onBegun } = yield* ShutdownState
      const called: Array<string> = []
      const note = () => void called.push("noted")
      const callOff = onBegun(note)
      onBegun(note)
      onBegun(() => called.push("once"))
      callOff()
      assert.deepStrictEqual(called, [])
      yield* begin
      yield* begin
      assert.deepStrictEqual(called, ["noted", "once"])
      onBegun(() => called.push("late"))
      assert.deepStrictEqual(called, ["noted", "once", "late"])
    }).pipe(Effect.provide(ShutdownState.layer))
  )

  it.effect("answers those who wait for it, before and after", () =>
    Effect.gen(function* () {
      const { begin, begun } = yield* ShutdownState
      const waiting = yield* Effect.forkChild(begun, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* begin
      yield* Fiber.join(waiting)
      yield* begun
    }).pipe(Effect.provide(ShutdownState.layer))
  )
})
