/** How the worker answers over HTTP. */
import { Effect, Metric, Schema, SchemaIssue } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { BackplaneUnavailable } from "#domain/stream/Backplane.ts"
import type { StreamRefusal } from "#domain/stream/SocketGate.ts"
import * as Metrics from "#domain/stream/WorkerMetrics.ts"
import { invalidRequest, notReady } from "#stream/refusals.ts"

const uncached = { "cache-control": "no-store" }

export const json = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status, headers: uncached })

export const refused = ({ error, message, retryAfterSeconds, status }: StreamRefusal) => {
  const headers = retryAfterSeconds === undefined ? uncached : { ...uncached, "retry-after": `${retryAfterSeconds}` }
  return HttpServerResponse.jsonUnsafe({ error, message }, { status, headers })
}

/** Refusals become answers. A backplane that is away is ours to mend: the client tries again. */
export const answering = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, StreamRefusal | BackplaneUnavailable, R>
) =>
  handler.pipe(
    Effect.catchTag("BackplaneUnavailable", ({ message }) =>
      Effect.andThen(Effect.logWarning(message), Effect.fail(notReady))
    ),
    Effect.catchTag("StreamRefusal", (refusal) =>
      Effect.as(Metric.update(Metric.withAttributes(Metrics.refusals, { error: refusal.error }), 1), refused(refusal))
    )
  )

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The body, or a refusal that names the fields. */
export const readBody = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = yield* Effect.mapError(request.json, () => invalidRequest("The body is not JSON, or too long"))
    return yield* Schema.decodeUnknownEffect(schema)(body).pipe(
      Effect.mapError(({ issue }) =>
        invalidRequest(
          format(issue)
            .issues.slice(0, 5)
            .map(({ message, path }) => `${(path ?? []).map(String).join(".") || "body"}: ${message}`)
            .join("; ")
        )
      )
    )
  })
