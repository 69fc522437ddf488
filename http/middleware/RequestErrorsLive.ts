import { Effect, type SchemaIssue } from "effect"
import { type HttpApiError, HttpApiMiddleware } from "effect/http-api"
import { ValidationFailed } from "#domain/Errors.ts"
import { describeIssue } from "#http/middleware/describeIssue.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"

/** Most problems that one answer lists. */
const maxDetails = 50
/** Most characters of one problem; a longer one is cut, since it may quote the request. */
const maxDetailLength = 300

const root = { Params: "path", Headers: "headers", Query: "query", Payload: "body" } as const

const isOurs = (kind: HttpApiError.HttpApiSchemaError["kind"]): kind is Exclude<typeof kind, keyof typeof root> =>
  !(kind in root)

/** Each problem once, as `field.path: reason`. */
const detailsOf = (issue: SchemaIssue.Issue, place: string): ReadonlyArray<string> => {
  const lines = describeIssue(issue).map(({ path, reason }) => {
    const line = `${path.map(String).join(".") || place}: ${reason}`
    return line.length > maxDetailLength ? `${line.slice(0, maxDetailLength)}...` : line
  })
  return [...new Set(lines)].slice(0, maxDetails)
}

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
