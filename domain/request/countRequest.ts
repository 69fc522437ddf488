/**
 * Counts a request whose sender is known in the tier of what it asks for, and refuses one too many. Routes and
 * procedures are counted alike: a caller that one of them refuses is refused by the other.
 */
import { Clock, Context, Effect, type Fiber } from "effect"
import type { RateLimited } from "#domain/errors/Errors.ts"
import { tooMany } from "#domain/effects/fixedWindows.ts"
import type { ApiKeyId, SessionId } from "#domain/values/Ids.ts"
import { RateLimits, tighter } from "#domain/request/RateLimits.ts"
import type { RateTier } from "#domain/request/RateTier.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"

/** What a request is counted under: its key or its session, and the address that it comes from. */
export interface Sender {
  readonly credential: ApiKeyId | SessionId
  readonly address: string
}

/** Answers what a route or a procedure of a tier runs before its handler. */
export const makeCountRequest = Effect.gen(function* () {
  const limits = yield* RateLimits
  const clock = yield* Clock.Clock

  return (tier: RateTier) =>
    <A, E, R>(fiber: Fiber.Fiber<unknown, unknown>, sender: Sender, handled: Effect.Effect<A, E, R>) =>
      Effect.flatMapEager(
        limits.consume({ address: sender.address, credential: sender.credential, tier }),
        (allowance): Effect.Effect<A, E | RateLimited, R> => {
          // A call over a socket has no answer of its own whose headers could show it.
          const context = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
          if (context !== undefined)
            context.allowance =
              context.allowance === undefined || tier !== "global" ? allowance : tighter(context.allowance, allowance)
          return allowance.isExceeded ? Effect.fail(tooMany(allowance, clock.currentTimeMillisUnsafe())) : handled
        }
      )
})
