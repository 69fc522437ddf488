import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { isDomainError } from "#domain/errors/DomainError.ts"

export const ErrorsV1Live = Layer.effect(
  ErrorsV1,
  Effect.map(Clock.Clock, (clock) =>
    ErrorsV1.of((httpEffect, { endpoint }) =>
      Effect.withFiber((fiber) => {
        const requestContext = Context.get(fiber.context as Context.Context<RequestContext>, RequestContext)
        return Effect.catch(httpEffect, (error) =>
          isDomainError(error)
            ? Effect.succeed(
                errorResponse(error, {
                  path: endpoint.path,
                  requestContext,
                  now: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
                })
              )
            : Effect.fail(error)
        )
      })
    )
  )
)
