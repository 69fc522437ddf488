import { Effect } from "effect"
import { type HttpApiError, HttpApiMiddleware } from "effect/http-api"
import { ValidationFailed } from "#domain/Errors.ts"
import { detailsOf } from "#domain/describeIssue.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"

const root = { Params: "path", Headers: "headers", Query: "query", Payload: "body" } as const

const isOurs = (kind: HttpApiError.HttpApiSchemaError["kind"]): kind is Exclude<typeof kind, keyof typeof root> =>
  !(kind in root)

export const RequestErrorsLive = HttpApiMiddleware.layerSchemaErrorTransform(RequestErrors, (error) =>
  // An answer that does not fit its own contract is a fault of ours.
  isOurs(error.kind)
    ? Effect.die(error)
    : Effect.fail(
        new ValidationFailed({
          message: "The request is not valid; details name each field",
          details: detailsOf(error.cause.issue, root[error.kind])
        })
      )
)
