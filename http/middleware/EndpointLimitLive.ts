import { Context, Effect, Layer } from "effect"
import { Caller } from "#domain/identity/Caller.ts"
import { makeCountRequest } from "#domain/request/countRequest.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"

type Limited = ReturnType<EndpointLimit["Service"]>

export const EndpointLimitLive = Layer.effect(
  EndpointLimit,
  Effect.map(makeCountRequest, (countIn) =>
    EndpointLimit.of((httpEffect, { endpoint }) => {
      const count = countIn(Context.get(endpoint.annotations, RateTier))

      return Effect.withFiber((fiber): Limited => {
        const context = fiber.context as Context.Context<Caller | RequestContext>
        const { apiKeyId } = Context.get(context, Caller)
        return count(fiber, { credential: apiKeyId, address: Context.get(context, RequestContext).address }, httpEffect)
      })
    })
  )
)
