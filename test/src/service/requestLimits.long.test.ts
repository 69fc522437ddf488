/** Requests are counted in Redis when there is one, over all processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { requestLimits } from "#src/service/requestLimits.ts"

const url = process.env["TEST_REDIS_URL"]
const settings = Layer.succeed(RateLimitSettings, { global: 100, critical: 2, general: 100, burst: 100 })
const aProcess = (redisUrl: string) => Layer.fresh(requestLimits(Redacted.make(redisUrl))).pipe(Layer.provide(settings))

const consume = (subject: string) =>
  Effect.flatMap(RateLimits, (limits) =>
    limits.consume({ address: `address of ${subject}`, credential: subject, tier: "critical" })
  )

describe("limits in Redis", () => {
  if (url === undefined) {
    it.skip("skipped because TEST_REDIS_URL is not set", () => {})
    return
  }

  it.live("two processes share one limit", () =>
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const subject = yield* random.ulid
      const first = yield* consume(subject).pipe(Effect.provide(aProcess(url)))
      const second = yield* consume(subject).pipe(Effect.provide(aProcess(url)))
      const third = yield* consume(subject).pipe(Effect.provide(aProcess(url)))
      assert.deepStrictEqual(
        [first, second, third].map(({ remaining, isExceeded }) => [remaining, isExceeded]),
        [
          [1, false],
          [0, false],
          [0, true]
        ]
      )
      assert.isTrue(third.resetAt > first.resetAt - 60_000)
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )
})
