/** Counts a request whose sender is known in the tier of its route, and refuses one too many. */
import { Clock, Context, Effect, type Fiber } from "effect"
import type { RateLimited } from "#domain/Errors.ts"
import { tooMany } from "#domain/fixedWindows.ts"
import { RequestContext } from "#http/middleware/RequestContext.ts"
import { RateLimits, tighter } from "#http/middleware/RateLimits.ts"
import type { RateTier } from "#http/RateTier.ts"

/** Answers what a route of a tier runs before its handler; `credential` is the key or the session. */
export const makeCountRequest = Effect.gen(function* () {
  const limits = yield* RateLimits
  const clock = yield* Clock.Clock

  return (tier: RateTier) =>
    <A, E, R>(fiber: Fiber.Fiber<unknown, unknown>, credential: string, handled: Effect.Effect<A, E, R>) => {
      const requestContext = Context.get(fiber.context as Context.Context<RequestContext>, RequestContext)
      return Effect.flatMapEager(
        limits.consume({ address: requestContext.address, apiKeyId: credential, tier }),
        (allowance): Effect.Effect<A, E | RateLimited, R> => {
          requestContext.allowance =
            requestContext.allowance === undefined || tier !== "global"
              ? allowance
              : tighter(requestContext.allowance, allowance)
          return allowance.isExceeded ? Effect.fail(tooMany(allowance, clock.currentTimeMillisUnsafe())) : handled
        }
      )
    }
})
