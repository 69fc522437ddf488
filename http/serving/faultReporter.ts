/**
 * Writes faults of ours to the log under the correlation id that the client was given, with their whole cause, and as a
 * warning what others did not answer. What a client did wrong is its answer's business, not the log's.
 */
import { Cause, Context, Effect, ErrorReporter, Layer } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { TransientFault } from "#domain/errors/TransientFault.ts"
import { contractOf, isDomainError } from "#domain/errors/DomainError.ts"

const isFault = (error: unknown): boolean => {
  if (HttpServerResponse.isHttpServerResponse(error) || ErrorReporter.isIgnored(error)) return false
  if (HttpServerError.isHttpServerError(error))
    return error.reason._tag !== "RouteNotFound" && error.reason._tag !== "RequestParseError"
  return !isDomainError(error) || contractOf(error).status >= 500
}

const faultOf = (reason: Cause.Reason<unknown>): unknown =>
  reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined

type IsTransient = (defect: unknown) => boolean

const isUnavailable = (reason: Cause.Reason<unknown>) =>
  reason._tag === "Fail" && isDomainError(reason.error) && contractOf(reason.error).status === 503

/**
 * One entry for all faults of a cause, one for storage that is away, and one for each thing outside that did not
 * answer; the error's message names it.
 */
const entriesOf = (
  reasons: ReadonlyArray<Cause.Reason<unknown>>,
  isTransient: IsTransient
): ReadonlyArray<Effect.Effect<void>> => {
  const isAway = (reason: Cause.Reason<unknown>) => reason._tag === "Die" && isTransient(reason.defect)
  const away = reasons.filter(isAway)
  const faults = reasons.filter((reason) => !isUnavailable(reason) && !isAway(reason))
  return [
    ...(faults.length === 0
      ? []
      : [Effect.logError("A request failed by a fault of the service", Cause.fromReasons(faults))]),
    ...(away.length === 0
      ? []
      : [Effect.logWarning("A request is to be sent again: the database is away", Cause.fromReasons(away))]),
    ...reasons
      .filter(isUnavailable)
      .map((reason) => Effect.logWarning(`A request is to be sent again: ${(faultOf(reason) as Error).message}`))
  ]
}

const makeReporter = (isTransient: IsTransient): ErrorReporter.ErrorReporter => {
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
      const reasons = cause.reasons.filter((reason) => {
        const fault = faultOf(reason)
        return fault !== undefined && isFault(fault) && isNew(fault)
      })
      if (reasons.length === 0) return
      const requestContext = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
      Effect.runForkWith(fiber.context)(
        Effect.annotateLogs(Effect.all(entriesOf(reasons, isTransient), { discard: true }), {
          correlationId: requestContext?.correlationId ?? "none",
          requestId: requestContext?.requestId ?? "none"
        })
      )
    }
  }
}

/** Must be provided around the server too, for routes that are not part of an HttpApi. */
export const FaultReporter = Layer.unwrap(
  Effect.map(TransientFault, (isTransient) => ErrorReporter.layer([makeReporter(isTransient)]))
)
