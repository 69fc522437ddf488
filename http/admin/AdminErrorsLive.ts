import { DateTime, Effect, Layer } from "effect"
import { AdminErrors } from "#http/admin/AdminErrors.ts"
import { errorResponse } from "#http/errorResponse.ts"
import { Exchange } from "#http/middleware/Exchange.ts"
import { isDomainError } from "#http/wireError.ts"

export const AdminErrorsLive = Layer.succeed(AdminErrors, (httpEffect, { endpoint }) =>
  Effect.catch(
    httpEffect,
    Effect.fnUntraced(function* (error) {
      if (!isDomainError(error)) return yield* Effect.fail(error)
      return errorResponse(error, { path: endpoint.path, exchange: yield* Exchange, now: yield* DateTime.now })
    })
  )
)
