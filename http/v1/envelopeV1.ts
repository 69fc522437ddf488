/** The v1 envelope, which contains the tracing ids and a timestamp. Source: interface "v1 envelope". */
import { DateTime, Effect, Schema } from "effect"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { timestamp, written } from "#http/values/values.ts"

const traceId = (description: string, example: string) => written(description, /^[0-9a-f]{32}$/u, example)

/** `{success, data, correlationId, requestId, timestamp}`. */
export const okV1 = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({
    success: Schema.Literal(true),
    data,
    correlationId: traceId("Value of the header `X-Correlation-Id`.", "4bf92f3577b34da6a3ce929d0e0e4736"),
    requestId: traceId("Value of the header `X-Request-Id`.", "00f067aa0ba902b700f067aa0ba902b7"),
    timestamp: timestamp("Time of the answer")
  })

/** Puts data into the envelope of the request that is being answered. */
export const successV1 = <Data>(data: Data) =>
  Effect.map(Effect.all([RequestContext, DateTime.now]), ([{ correlationId, requestId }, now]) => ({
    success: true as const,
    data,
    correlationId,
    requestId,
    timestamp: DateTime.formatIso(now)
  }))
