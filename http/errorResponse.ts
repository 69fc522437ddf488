/** Answers with a domain error outside an HttpApi, in the envelope of the path's version. */
import { DateTime } from "effect"
import { HttpServerResponse } from "effect/http"
import type { RequestContext } from "#http/middleware/RequestContext.ts"
import { contractOf, type DomainError, errorBody, errorFields } from "#http/wireError.ts"

/** The body of a v1 error answer, which carries the tracing ids. Source: interface "v1 envelope". */
export const errorBodyV1 = (error: DomainError, requestContext: RequestContext["Service"], now: DateTime.Utc) => ({
  success: false as const,
  error: errorFields(error),
  correlationId: requestContext.correlationId,
  requestId: requestContext.requestId,
  timestamp: DateTime.formatIso(now)
})

/** The legacy execute routes stand outside `/v1/`. Source: interface "Legacy routes". */
const isV1 = (path: string) => path.startsWith("/v1/") || path.startsWith("/portfolio/")

/** `path` decides the envelope: v1 below `/v1/` and `/portfolio/`, v2 everywhere else. */
export const errorResponse = (
  error: DomainError & { readonly retryAfterSeconds?: number },
  options: {
    readonly path: string
    readonly requestContext: RequestContext["Service"]
    readonly now: DateTime.Utc
    /** Instead of the status of the error's contract. */
    readonly status?: number
  }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(
    isV1(options.path) ? errorBodyV1(error, options.requestContext, options.now) : errorBody(error),
    {
      status: options.status ?? contractOf(error).status,
      ...(error.retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(error.retryAfterSeconds) } })
    }
  )
