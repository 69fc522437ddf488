import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import type { RateTier } from "#domain/request/RateTier.ts"

const Limits = RateLimits.layerMemory.pipe(
  Layer.provide(Layer.succeed(RateLimitSettings, { global: 3, critical: 1, general: 2, burst: 2 }))
)

/** One request of a key; addresses are as many as keys. */
const consumeOf = Effect.map(
  RateLimits,
  (limits) => (apiKeyId: string, tier: RateTier) =>
    limits.consume({ address: `address of ${apiKeyId}`, credential: apiKeyId, tier })
)

it.layer(Limits)("RateLimits", (it) => {
  it.effect("counts down, refuses, and begins anew a minute after the first request", () =>
    Effect.gen(function* () {
      const consume = yield* consumeOf
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
      const consume = yield* consumeOf
      assert.isFalse((yield* consume("b", "critical")).isExceeded)
      assert.isTrue((yield* consume("b", "critical")).isExceeded)
      assert.isFalse((yield* consume("c", "critical")).isExceeded)
      assert.isFalse((yield* consume("b", "burst")).isExceeded)
    })
  )

  it.effect("never forgets a live counter for others, however many subjects there are", () =>
    Effect.gen(function* () {
      const { arrive, consume } = yield* RateLimits
      yield* TestClock.adjust("1 hour")
      for (let request = 0; request < 3; request++) yield* arrive("first")
      assert.isTrue((yield* arrive("first")).isExceeded)
      for (let index = 0; index < 60_000; index++) yield* arrive(`s${index}`)
      assert.isTrue((yield* arrive("first")).isExceeded)
      assert.isFalse((yield* consume({ address: "first", credential: "a key", tier: "general" })).isExceeded)
    })
  )

  it.effect("counts those for whom there is no counter left together, and each apart again after a minute", () =>
    Effect.gen(function* () {
      const { arrive } = yield* RateLimits
      yield* TestClock.adjust("1 hour")
      for (let index = 0; index < 25_000; index++) yield* arrive(`s${index}`)
      let refused = 0
      for (let index = 0; index < 50_000; index++) if ((yield* arrive(`late${index}`)).isExceeded) refused += 1
      assert.isAbove(refused, 30_000)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* arrive("late0"), { remaining: 2, isExceeded: false })
    })
  )
})
