import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { AdminErrors } from "#http/admin/AdminErrors.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import { isDomainError } from "#http/wireError.ts"

export const AdminErrorsLive = Layer.effect(
  AdminErrors,
  Effect.map(Clock.Clock, (clock) =>
    AdminErrors.of((httpEffect, { endpoint }) =>
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
