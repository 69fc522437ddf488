/**
 * What to say where the HTTP library answers with a bare status: no route, an oversized or unreadable body, a fault.
 */
import {
  BodyTooLarge,
  Internal,
  MethodNotAllowed,
  NotFound,
  Unavailable,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import type { DomainError } from "#domain/errors/DomainError.ts"

const maxShown = 200

/**
 * The domain error for a bare status; undefined for statuses that stay bare, such as that of a client that went away.
 */
export const fallbackError = (
  status: number,
  request: {
    readonly method: string
    readonly path: string
    /** The methods that the path has. */
    readonly methods: ReadonlyArray<string>
  }
): DomainError | undefined => {
  const shown = request.path.slice(0, maxShown)
  switch (status) {
    case 400:
      return new ValidationFailed({
        message: "The request body could not be read; send it whole, as JSON in UTF-8",
        details: ["body: not readable"]
      })
    case 404:
      return request.methods.length === 0
        ? new NotFound({ message: `There is no route ${request.method} ${shown}; see /v2/openapi.json` })
        : new MethodNotAllowed({
            message: `${shown} does not have the method ${request.method}; it has ${request.methods.join(", ")}`
          })
    case 413:
      return new BodyTooLarge({ message: "The request body is larger than 64 KiB; send less" })
    case 415:
      return new ValidationFailed({
        message: "The request body must be JSON",
        details: ["content-type: expected application/json, or application/merge-patch+json for a PATCH"]
      })
    case 500:
      return new Internal({ message: "The service could not answer; retry, and quote X-Correlation-Id when it stays" })
    case 503:
      return new Unavailable({ message: "The service is shutting down; retry in a moment" })
    default:
      return undefined
  }
}
