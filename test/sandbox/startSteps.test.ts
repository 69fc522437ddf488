/** What the terminal shows while the sandbox starts. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { step } from "#sandbox/control/printWorld.ts"

it.effect("a step of the start says every ten seconds that it goes on, and in the end how long it took", () =>
  Effect.gen(function* () {
    const starting = yield* Effect.forkChild(step("Chains are up", Effect.as(Effect.sleep("25 seconds"), 42)))
    yield* TestClock.adjust("60 seconds")
    assert.strictEqual(yield* Fiber.join(starting), 42)
    assert.deepStrictEqual(yield* TestConsole.logLines, [
      "  Not yet, after 10.0 s: Chains are up",
      "  Not yet, after 20.0 s: Chains are up",
      "  Chains are up (25.0 s)"
    ])
  })
)
