/**
 * Metric and log of calls of procedures, by what each came to, whichever wire it came by. A call over Effect's RPC is
 * refused in an answer that is 200, so that the request log has nothing to say of it: the line is written here, and the
 * refusal is stored for the tenant whose key the call had.
 */
import { Cause, Clock, Context, DateTime, Effect, Exit, Fiber, Layer, LogLevel, Metric } from "effect"
import { contractOf, isDomainError } from "#domain/errors/DomainError.ts"
import { Internal, NotFound } from "#domain/errors/Errors.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { callOf, RefusedRequests } from "#domain/request/RefusedRequests.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"

/** `json` is the wire of the interface, a route for each procedure. */
type System = "json" | "effect_rpc"

/** What a call came to: the status that the interface's wire has for it, and code and message of what refused it. */
interface Outcome {
  readonly status: number
  readonly code: string | null
  readonly message: string | null
}

/** A client that went away before its answer, as servers of HTTP count it. */
const clientGone: Outcome = { status: 499, code: null, message: null }

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return { status: 200, code: null, message: null }
  if (Cause.hasInterruptsOnly(exit.cause)) return clientGone
  const failed = Cause.findErrorOption(exit.cause)
  const error = failed._tag === "Some" && isDomainError(failed.value) ? failed.value : undefined
  const { code, status } = error === undefined ? Internal.contract : contractOf(error)
  return { code, status, message: error?.message ?? null }
}

/** Attributes by the semantic conventions for RPC, but that a refusal is an error of its code too. */
const makeSeries = (system: System, method: string, { code, status }: Outcome) =>
  Metric.withAttributes(Metrics.procedureDuration, {
    "rpc.system.name": system,
    "rpc.method": method,
    "rpc.response.status_code": String(status),
    ...(code === null ? {} : { "error.type": code })
  })

interface Measured {
  readonly method: string
  /** Monotonic nanoseconds. */
  readonly startedAt: bigint
}

/** What a client calls that is no procedure. */
const otherMethod = "_OTHER"

/** A call over Effect's RPC. */
export interface NativeCall {
  /** Undefined for what is no procedure. */
  readonly procedure: string | undefined
  /** The client's number of it, within its connection. */
  readonly callId: string | number
  /** Monotonic nanoseconds. */
  readonly startedAt: bigint
}

const longestId = 40

/** What stands for the method of a call that is none of HTTP's. */
const nativeMethod = "RPC"

export class CallLog extends Context.Service<
  CallLog,
  {
    /** Measures a call on the interface's wire, of whose answer the request log has a line. */
    readonly measured: (procedure: string) => <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Measures a call over Effect's RPC, and logs one that was refused or failed. Runs on the call's fiber. */
    readonly ended: (
      call: NativeCall,
      exit: Exit.Exit<unknown, unknown>,
      context?: RequestContext["Service"]
    ) => Effect.Effect<void>
    /** Logs a call that ended where it began. */
    readonly refused: (call: Omit<NativeCall, "startedAt">, error: unknown) => Effect.Effect<void>
  }
>()("ballast/rpc/CallLog") {
  static readonly layer = Layer.effect(
    CallLog,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const refusals = yield* RefusedRequests
      const metrics = Context.pick(
        Metric.MetricRegistry,
        Metric.CurrentMetricAttributes
      )(yield* Effect.context<never>())
      // Procedures, statuses and codes are few.
      const known = new Map<string, ReturnType<typeof makeSeries>>()

      /** Answers how many seconds the call took. */
      const measure = (system: System, { method, startedAt }: Measured, outcome: Outcome): number => {
        const key = `${system} ${method} ${outcome.status} ${outcome.code}`
        let series = known.get(key)
        if (series === undefined) known.set(key, (series = makeSeries(system, method, outcome)))
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9
        series.updateUnsafe(seconds, metrics)
        return seconds
      }

      const measured =
        (procedure: string) =>
        <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
          Effect.suspend(() => {
            const startedAt = clock.monotonicTimeNanosUnsafe()
            return Effect.onExit(call, (exit) => {
              measure("json", { method: procedure, startedAt }, outcomeOf(exit))
              return Effect.void
            })
          })

      const ended = (
        { callId, procedure, startedAt }: NativeCall,
        exit: Exit.Exit<unknown, unknown>,
        context?: RequestContext["Service"]
      ) =>
        Effect.suspend(() => {
          const outcome = outcomeOf(exit)
          const seconds = measure("effect_rpc", { method: procedure ?? otherMethod, startedAt }, outcome)
          const fiber = Fiber.getCurrent()!
          const request =
            context ?? Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
          const shownId = String(callId).slice(0, longestId)
          const route = procedure === undefined ? "unmatched" : `/v1/rpc/${procedure}`
          if (outcome.code !== null && request?.caller !== undefined)
            refusals.note({
              ...request.caller,
              at: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe()),
              requestId: callOf(request.requestId, shownId),
              correlationId: request.correlationId,
              method: nativeMethod,
              route,
              ...outcome,
              milliseconds: Math.round(seconds * 1e6) / 1000
            })
          const level = outcome.code === null ? "Debug" : "Info"
          if (!LogLevel.isGreaterThanOrEqualTo(level, fiber.cache.minimumLogLevel)) return Effect.void
          const title = outcome.code === null ? "Answered" : outcome.status >= 500 ? "Failed" : "Refused"
          return Effect.annotateLogs(Effect.logWithLevel(level)(title), {
            method: nativeMethod,
            route,
            callId: shownId,
            status: outcome.status,
            ...(outcome.code === null ? {} : { code: outcome.code }),
            ...request?.caller,
            milliseconds: seconds * 1000,
            correlationId: request?.correlationId ?? "none",
            requestId: request?.requestId ?? "none"
          })
        })

      const refused = (call: Omit<NativeCall, "startedAt">, error: unknown) =>
        Effect.suspend(() => ended({ ...call, startedAt: clock.monotonicTimeNanosUnsafe() }, Exit.fail(error)))

      return CallLog.of({ measured, ended, refused })
    })
  )
}

/** What answers a call of no procedure; the library has its own words for it. */
export const unknownProcedure = new NotFound({ message: "There is no such procedure" })
