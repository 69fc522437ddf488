/** What is logged, and where traces and metrics go. */
import { Effect, type LogLevel, Redacted } from "effect"
import * as Kind from "#src/config/kinds.ts"
import { all, optional, withDefault } from "#src/config/Setting.ts"

const logLevels = [
  "Trace",
  "Debug",
  "Info",
  "Warn",
  "Error",
  "None"
] as const satisfies ReadonlyArray<LogLevel.LogLevel>

const otlp = Effect.map(
  all({
    endpoint: optional("OTEL_EXPORTER_OTLP_ENDPOINT", Kind.httpUrl("http://collector:4318")),
    headers: withDefault(
      "OTEL_EXPORTER_OTLP_HEADERS",
      Kind.pairs("name=value pairs", "authorization=Bearer%20...", true),
      {}
    ),
    isDisabled: withDefault("OTEL_SDK_DISABLED", Kind.boolean, false),
    traceRatio: withDefault("OTEL_TRACES_SAMPLER_ARG", Kind.ratio, 1)
  }),
  ({ endpoint, headers, isDisabled, traceRatio }) =>
    endpoint === null || isDisabled ? null : { endpoint, headers: Redacted.make(headers), traceRatio }
)

/** Telemetry of a program, which is its name, but for the secrets that it must not show. */
export const telemetryOf = (program: "ballast-api" | "ballast-stream" | "ballast-attestor") =>
  all({
    serviceName: withDefault("OTEL_SERVICE_NAME", Kind.text("a name", "ballast-api"), program),
    resourceAttributes: withDefault(
      "OTEL_RESOURCE_ATTRIBUTES",
      Kind.pairs("name=value pairs", "deployment.environment=production", false),
      {}
    ),
    otlp,
    logLevel: withDefault<LogLevel.LogLevel>("LOG_LEVEL", Kind.oneOf(logLevels), "Info"),
    logFormat: withDefault("LOG_FORMAT", Kind.oneOf(["json", "pretty"]), "json")
  })
