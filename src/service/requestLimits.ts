/**
 * Where requests are counted: in this process, or in Redis when `REDIS_URL` is set.
 *
 * When Redis does not answer, this process counts alone: a limit that is too generous for a while is better than a
 * service that refuses everybody.
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { RateLimiter } from "effect/persistence"
import { type Allowance, RateLimits } from "#http/middleware/RateLimits.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"

const window = Duration.minutes(1)
const answerWithin = Duration.millis(250)

const inRedis = Layer.effect(
  RateLimits,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter
    const settings = yield* RateLimitSettings
    const alone = yield* RateLimits
    const clock = yield* Clock.Clock

    return RateLimits.of({
      consume: (subject, tier) => {
        const limit = settings[tier]
        const allowance = (remaining: number, until: Duration.Duration): Allowance => ({
          limit,
          remaining,
          resetAt: clock.currentTimeMillisUnsafe() + Duration.toMillis(until),
          isExceeded: false
        })
        return limiter.consume({ key: `${tier}:${subject}`, limit, window }).pipe(
          Effect.map(({ remaining, resetAfter }) => allowance(remaining, resetAfter)),
          Effect.timeout(answerWithin),
          Effect.catch((error) =>
            error._tag === "RateLimiterError" && error.reason._tag === "RateLimitExceeded"
              ? Effect.succeed({ ...allowance(0, error.reason.retryAfter), isExceeded: true })
              : Effect.andThen(
                  Effect.logWarning("Redis does not count requests; this process counts alone", error),
                  alone.consume(subject, tier)
                )
          )
        )
      }
    })
  })
)

export const requestLimits = (redisUrl: Redacted.Redacted | null) =>
  redisUrl === null
    ? RateLimits.layerMemory
    : inRedis.pipe(
        Layer.provide(RateLimits.layerMemory),
        Layer.provide(RateLimiter.layer),
        Layer.provide(RateLimiter.layerStoreRedis({ prefix: "ballast:limits:" })),
        Layer.provide(NodeRedis.layer({ url: Redacted.value(redisUrl) }))
      )
