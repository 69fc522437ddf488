/**
 * Logs to standard output, and traces, metrics and logs to an OpenTelemetry collector when one is configured.
 *
 * Nothing leaves the process before the scrubber has seen it. A collector that is slow or away costs data, never the
 * service's work.
 */
import { Duration, Effect, Layer, Logger, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientError } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { jsonLine, prettyLine } from "#layers/telemetry/consoleLogger.ts"
import { sampling } from "#layers/telemetry/sampling.ts"
import { makeScrubber } from "#layers/telemetry/Scrubber.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"

const exportLimit = Duration.seconds(10)

/** OTLP/JSON writes numbers that JSON has no form for as text. */
const finite = (_: string, value: unknown) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value

const scrubbedJson = (scrub: (text: string) => string) => {
  const body = (data: unknown) => HttpBody.text(scrub(JSON.stringify(data, finite)), "application/json")
  return Layer.succeed(OtlpSerialization.OtlpSerialization, { traces: body, metrics: body, logs: body })
}

/** A collector that never answers must not gather exports without end. */
const boundedClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) =>
    HttpClient.transform(client, (response, request) =>
      withinRealTime(
        exportLimit,
        () =>
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({
              request,
              description: `no answer in ${Duration.format(exportLimit)}`
            })
          })
      )(response)
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

export const Telemetry = Layer.unwrap(
  Effect.gen(function* () {
    const config = yield* TelemetryConfig
    const scrub = makeScrubber(config.secrets)
    const line = config.logFormat === "json" ? jsonLine(config.serviceName) : prettyLine
    const console = Logger.withConsoleLog(Logger.map(line, scrub))
    const level = Layer.succeed(References.MinimumLogLevel, config.logLevel)
    if (config.otlp === null) return Layer.merge(level, Logger.layer([console]))

    const { endpoint, headers, traceRatio } = config.otlp
    const options = (signal: string) => ({
      url: `${endpoint}/v1/${signal}`,
      headers: Redacted.value(headers),
      resource: {
        serviceName: config.serviceName,
        serviceVersion: config.serviceVersion,
        attributes: config.resourceAttributes
      }
    })
    return Layer.mergeAll(
      level,
      Logger.layer([console, OtlpLogger.make(options("logs"))]),
      OtlpMetrics.layer(options("metrics")),
      Layer.effect(Tracer.Tracer, Effect.map(OtlpTracer.make(options("traces")), sampling(traceRatio)))
    ).pipe(Layer.provideMerge(OtlpExporter.layerFlusher), Layer.provide([scrubbedJson(scrub), boundedClient]))
  })
)
