import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { FlowPruner, pruneFlows } from "#domain/enrollment/FlowPruner.ts"

/** A store with so many flows that expired long ago; the first passes fail. */
const storeWith = (expired: number, failures = 0) => {
  const asked: Array<readonly [before: number, limit: number]> = []
  let [left, fails] = [expired, failures]
  const store = Layer.mock(EnrollmentStore, {
    pruneFlows: (before, limit) =>
      Effect.suspend(() => {
        asked.push([before.epochMilliseconds, limit])
        fails -= 1
        if (fails >= 0) return Effect.die(new Error("the database is away"))
        const removed = Math.min(left, limit)
        left -= removed
        return Effect.succeed(removed)
      })
  })
  return { asked, store }
}

const day = Duration.toMillis(Duration.days(1))

describe("FlowPruner", () => {
  it.effect("removes what expired more than a day ago, a thousand at a time, until nothing of it is left", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("3 days")
      const { epochMilliseconds: now } = yield* DateTime.now
      for (const [expired, statements] of [
        [0, 1],
        [999, 1],
        [2_500, 3]
      ] as const) {
        const { asked, store } = storeWith(expired)
        assert.strictEqual(yield* Effect.provide(pruneFlows, store), expired)
        assert.deepStrictEqual(
          asked,
          Array.from({ length: statements }, () => [now - day, 1_000] as const)
        )
      }
    })
  )

  it.effect("removes at most 100,000 in one pass", () =>
    Effect.gen(function* () {
      const { asked, store } = storeWith(1_000_000)
      assert.strictEqual(yield* Effect.provide(pruneFlows, store), 100_000)
      assert.lengthOf(asked, 100)
    })
  )

  it.effect("passes now and every ten minutes, also after a pass that failed", () =>
    Effect.gen(function* () {
      const { asked, store } = storeWith(0, 2)
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(0)
        assert.lengthOf(asked, 1)
        yield* TestClock.adjust(Duration.toMillis("10 minutes") - 1)
        assert.lengthOf(asked, 1)
        for (let passes = 2; passes <= 4; passes++) {
          yield* TestClock.adjust(passes === 2 ? 1 : "10 minutes")
          assert.lengthOf(asked, passes)
        }
      }).pipe(Effect.provide(FlowPruner.pipe(Layer.provide(store))))
    })
  )
})
