/**
 * Writes faults of ours to the log under the correlation id that the client was given, with their whole cause. What a
 * client did wrong is its answer's business, not the log's.
 */
import { Cause, Context, Effect, ErrorReporter } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import { Exchange } from "#http/middleware/Exchange.ts"
import { contractOf, isDomainError } from "#http/wireError.ts"

const isFault = (error: unknown): boolean => {
  if (HttpServerResponse.isHttpServerResponse(error)) return false
  if (HttpServerError.isHttpServerError(error))
    return error.reason._tag !== "RouteNotFound" && error.reason._tag !== "RequestParseError"
  return !isDomainError(error) || contractOf(error).status >= 500
}

const faultOf = (reason: Cause.Reason<unknown>): unknown =>
  reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined

const makeReporter = (): ErrorReporter.ErrorReporter => {
  // A fault passes several layers of the library, each of which reports it.
  const reported = new WeakSet<object>()

  const isNew = (fault: unknown): boolean => {
    if (typeof fault !== "object" || fault === null) return true
    if (reported.has(fault)) return false
    reported.add(fault)
    return true
  }

  return {
    [ErrorReporter.TypeId]: ErrorReporter.TypeId,
    report: ({ cause, fiber }) => {
      const faults = cause.reasons.filter((reason) => {
        const fault = faultOf(reason)
        return fault !== undefined && isFault(fault) && isNew(fault)
      })
      if (faults.length === 0) return
      const exchange = Context.getOrUndefined(fiber.context as Context.Context<Exchange>, Exchange)
      Effect.runForkWith(fiber.context)(
        Effect.annotateLogs(Effect.logError("A request failed by a fault of the service", Cause.fromReasons(faults)), {
          correlationId: exchange?.correlationId ?? "none",
          requestId: exchange?.requestId ?? "none"
        })
      )
    }
  }
}

/** Must be provided around the server too, so that it hears of routes that are not part of an HttpApi. */
export const FaultReporter = ErrorReporter.layer([makeReporter()])
