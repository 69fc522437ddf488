/** Answers with a domain error outside an HttpApi, in the envelope of the path's version. */
import { DateTime } from "effect"
import { CallsRefused } from "#domain/Errors.ts"
import { HttpServerResponse } from "effect/http"
import type { RequestContext } from "#http/middleware/RequestContext.ts"
import { contractOf, type DomainError, errorBody, errorFields } from "#http/errorContract.ts"

/**
 * The legacy execute routes stand outside of `/v1/`, and have codes of their own. Source: interface "Legacy execute
 * codes".
 */
const isExecute = (path: string) => path.startsWith("/portfolio/")

const ofStatus: Readonly<Record<number, string>> = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND" }

/** The code that the legacy execute routes have for one of ours; for too many requests they have none. */
export const legacyCode = (code: string, status: number): string => {
  if (code === CallsRefused.contract.code) return "SIMULATION_FAILED"
  if (status === 429) return code
  return status >= 500 ? "EXECUTION_FAILED" : (ofStatus[status] ?? "BAD_REQUEST")
}

/** The body of a v1 error answer, which carries the tracing ids. Source: interface "v1 envelope". */
export const errorBodyV1 = (error: DomainError, requestContext: RequestContext["Service"], now: DateTime.Utc) => ({
  success: false as const,
  error: errorFields(error),
  correlationId: requestContext.correlationId,
  requestId: requestContext.requestId,
  timestamp: DateTime.formatIso(now)
})

const isV1 = (path: string) => path.startsWith("/v1/") || isExecute(path)

/** The request that is answered. */
interface Answered {
  readonly path: string
  readonly requestContext: RequestContext["Service"]
  readonly now: DateTime.Utc
  /** Instead of the status of the error's contract. */
  readonly status?: number
}

const bodyOn = ({ now, path, requestContext }: Answered, error: DomainError) => {
  if (!isV1(path)) return errorBody(error)
  const body = errorBodyV1(error, requestContext, now)
  return isExecute(path)
    ? { ...body, error: { ...body.error, code: legacyCode(body.error.code, contractOf(error).status) } }
    : body
}

/** `path` decides the envelope: v1 below `/v1/` and `/portfolio/`, v2 everywhere else. */
export const errorResponse = (
  error: DomainError & { readonly retryAfterSeconds?: number },
  answered: Answered
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(bodyOn(answered, error), {
    status: answered.status ?? contractOf(error).status,
    ...(error.retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(error.retryAfterSeconds) } })
  })
