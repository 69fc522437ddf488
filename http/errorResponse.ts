/** Answers with a domain error outside an HttpApi, in the envelope of the path's version. */
import { DateTime } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Exchange } from "#http/middleware/Exchange.ts"
import { contractOf, type DomainError, errorBody, errorFields } from "#http/wireError.ts"

/** The body of a v1 error answer, which carries the tracing ids. Source: interface "v1 envelope". */
export const errorBodyV1 = (error: DomainError, exchange: Exchange["Service"], now: DateTime.Utc) => ({
  success: false as const,
  error: errorFields(error),
  correlationId: exchange.correlationId,
  requestId: exchange.requestId,
  timestamp: DateTime.formatIso(now)
})

/** `path` decides the envelope: v1 below `/v1/`, v2 everywhere else. */
export const errorResponse = (
  error: DomainError & { readonly retryAfterSeconds?: number },
  options: {
    readonly path: string
    readonly exchange: Exchange["Service"]
    readonly now: DateTime.Utc
    /** Instead of the status of the error's contract. */
    readonly status?: number
  }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(
    options.path.startsWith("/v1/") ? errorBodyV1(error, options.exchange, options.now) : errorBody(error),
    {
      status: options.status ?? contractOf(error).status,
      ...(error.retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(error.retryAfterSeconds) } })
    }
  )
