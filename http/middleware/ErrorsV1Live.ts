import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import { isDomainError } from "#http/wireError.ts"

export const ErrorsV1Live = Layer.effect(
  ErrorsV1,
  Effect.map(Clock.Clock, (clock) =>
    ErrorsV1.of((httpEffect, { endpoint }) =>
      Effect.withFiber((fiber) => {
        const exchange = Context.get(fiber.context as Context.Context<Exchange>, Exchange)
        return Effect.catch(httpEffect, (error) =>
          isDomainError(error)
            ? Effect.succeed(
                errorResponse(error, {
                  path: endpoint.path,
                  exchange,
                  now: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
                })
              )
            : Effect.fail(error)
        )
      })
    )
  )
)
