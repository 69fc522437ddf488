import { Clock, Context, Effect, Layer } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import { tooMany } from "#http/middleware/ExchangeLive.ts"
import { type Allowance, RateLimits } from "#http/middleware/RateLimits.ts"
import { RateTier } from "#http/RateTier.ts"

/** The one that refuses, or else the one that is nearer to its end. */
const tighter = (a: Allowance, b: Allowance): Allowance => {
  if (a.isExceeded !== b.isExceeded) return a.isExceeded ? a : b
  return b.remaining < a.remaining ? b : a
}

type Limited = ReturnType<EndpointLimit["Service"]>

export const EndpointLimitLive = Layer.effect(
  EndpointLimit,
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const clock = yield* Clock.Clock

    /** The key in all its requests, and both key and address in the tier; the address in all was counted on arrival. */
    const consume = (address: string, apiKeyId: string, tier: RateTier): Effect.Effect<Allowance> =>
      Effect.flatMapEager(limits.consume(apiKeyId, "global"), (overall) => {
        if (tier === "global" || overall.isExceeded) return Effect.succeed(overall)
        return Effect.flatMapEager(limits.consume(apiKeyId, tier), (ofKey) =>
          ofKey.isExceeded
            ? Effect.succeed(ofKey)
            : Effect.mapEager(limits.consume(address, tier), (ofAddress) => tighter(ofKey, ofAddress))
        )
      })

    return EndpointLimit.of((httpEffect, { endpoint }) => {
      const tier = Context.get(endpoint.annotations, RateTier)

      return Effect.withFiber((fiber): Limited => {
        const context = fiber.context as Context.Context<Caller | Exchange>
        const { apiKeyId } = Context.get(context, Caller)
        const exchange = Context.get(context, Exchange)
        return Effect.flatMapEager(consume(exchange.address, apiKeyId, tier), (allowance): Limited => {
          exchange.allowance =
            exchange.allowance === undefined || tier !== "global" ? allowance : tighter(exchange.allowance, allowance)
          return allowance.isExceeded ? Effect.fail(tooMany(allowance, clock.currentTimeMillisUnsafe())) : httpEffect
        })
      })
    })
  })
)
