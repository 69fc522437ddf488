/** The v1 envelope, which carries the tracing ids and a timestamp. Source: interface "v1 envelope". */
import { DateTime, Effect, Schema } from "effect"
import { RequestContext } from "#http/middleware/RequestContext.ts"

/** `{success, data, correlationId, requestId, timestamp}`. */
export const okV1 = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({
    success: Schema.Literal(true),
    data,
    correlationId: Schema.String,
    requestId: Schema.String,
    timestamp: Schema.String
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
