import { Clock, Context, Effect, Layer } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestContext } from "#http/middleware/RequestContext.ts"
import { tooMany } from "#domain/fixedWindows.ts"
import { RateLimits, tighter } from "#http/middleware/RateLimits.ts"
import { RateTier } from "#http/RateTier.ts"

type Limited = ReturnType<EndpointLimit["Service"]>

export const EndpointLimitLive = Layer.effect(
  EndpointLimit,
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const clock = yield* Clock.Clock

    return EndpointLimit.of((httpEffect, { endpoint }) => {
      const tier = Context.get(endpoint.annotations, RateTier)

      return Effect.withFiber((fiber): Limited => {
        const context = fiber.context as Context.Context<Caller | RequestContext>
        const { apiKeyId } = Context.get(context, Caller)
        const requestContext = Context.get(context, RequestContext)
        return Effect.flatMapEager(
          limits.consume({ address: requestContext.address, apiKeyId, tier }),
          (allowance): Limited => {
            requestContext.allowance =
              requestContext.allowance === undefined || tier !== "global"
                ? allowance
                : tighter(requestContext.allowance, allowance)
            return allowance.isExceeded ? Effect.fail(tooMany(allowance, clock.currentTimeMillisUnsafe())) : httpEffect
          }
        )
      })
    })
  })
)
