import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimits } from "#http/middleware/RateLimits.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"

const Limits = RateLimits.layerMemory.pipe(
  Layer.provide(Layer.succeed(RateLimitSettings, { global: 3, critical: 1, general: 2, burst: 2 }))
)

it.layer(Limits)("RateLimits", (it) => {
  it.effect("counts down, refuses, and begins anew a minute after the first request", () =>
    Effect.gen(function* () {
      const { consume } = yield* RateLimits
      assert.deepInclude(yield* consume("a", "general"), { limit: 2, remaining: 1, resetAt: 60_000, isExceeded: false })
      yield* TestClock.adjust("59 seconds")
      assert.deepInclude(yield* consume("a", "general"), { remaining: 0, resetAt: 60_000, isExceeded: false })
      assert.deepInclude(yield* consume("a", "general"), { remaining: 0, isExceeded: true })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* consume("a", "general"), { remaining: 1, resetAt: 120_000, isExceeded: false })
    })
  )

  it.effect("keeps subjects and tiers apart", () =>
    Effect.gen(function* () {
      const { consume } = yield* RateLimits
      assert.isFalse((yield* consume("b", "critical")).isExceeded)
      assert.isTrue((yield* consume("b", "critical")).isExceeded)
      assert.isFalse((yield* consume("c", "critical")).isExceeded)
      assert.isFalse((yield* consume("b", "burst")).isExceeded)
    })
  )

  it.effect("forgets the oldest subjects first when there are too many", () =>
    Effect.gen(function* () {
      const { consume } = yield* RateLimits
      yield* TestClock.adjust("1 hour")
      yield* consume("first", "critical")
      yield* TestClock.adjust("1 second")
      for (let index = 0; index < 24_999; index++) yield* consume(`s${index}`, "critical")
      assert.isTrue((yield* consume("first", "critical")).isExceeded)
      yield* consume("one more", "critical")
      assert.isTrue((yield* consume("s24998", "critical")).isExceeded)
      assert.isFalse((yield* consume("first", "critical")).isExceeded)
    })
  )
})
