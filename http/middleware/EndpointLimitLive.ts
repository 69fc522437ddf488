import { Context, Effect, Layer } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import { makeCountRequest } from "#http/middleware/countRequest.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RateTier } from "#http/RateTier.ts"

type Limited = ReturnType<EndpointLimit["Service"]>

export const EndpointLimitLive = Layer.effect(
  EndpointLimit,
  Effect.map(makeCountRequest, (countIn) =>
    EndpointLimit.of((httpEffect, { endpoint }) => {
      const count = countIn(Context.get(endpoint.annotations, RateTier))

      return Effect.withFiber((fiber): Limited => {
        const { apiKeyId } = Context.get(fiber.context as Context.Context<Caller>, Caller)
        return count(fiber, apiKeyId, httpEffect)
      })
    })
  )
)
