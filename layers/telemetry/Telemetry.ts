/**
 * Logs to standard output, and traces, metrics and logs to an OpenTelemetry collector when one is configured.
 *
 * Nothing leaves the process before the scrubber has seen it. A collector that is slow or away costs data, never the
 * service's work.
 */
import { Context, Effect, Layer, Logger, Metric, Redacted, References, Tracer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpBody } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { SpanPropagationEnabled } from "effect/sql/Statement"
import { collectorClient } from "#layers/telemetry/collectorClient.ts"
import { jsonLine, prettyLine } from "#layers/telemetry/consoleLogger.ts"
import { quietPolls } from "#layers/telemetry/quietPolls.ts"
import { runtimeMetrics } from "#layers/telemetry/runtimeMetrics.ts"
import { measured } from "#layers/telemetry/SpanMetrics.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"

/**
 * A tracer that lets the given share of new traces (0 to 1) be exported, evenly spread; a trace keeps the decision of
 * its first span, and one begun by a caller the caller's. Spans that are not exported still have ids for the logs.
 */
export const sampling =
  (ratio: number) =>
  (tracer: Tracer.Tracer): Tracer.Tracer => {
    if (ratio >= 1) return tracer
    let owed = 0
    const isNextTaken = () => {
      owed += ratio
      if (owed < 1) return false
      owed -= 1
      return true
    }
    return Tracer.make({
      ...tracer,
      span: (options) =>
        tracer.span(
          Option.match(options.parent, {
            onNone: () => ({ ...options, sampled: options.sampled && isNextTaken() }),
            onSome: (parent) => ({ ...options, sampled: options.sampled && parent.sampled })
          })
        )
    })
  }

const apiKey = "bk_(?:live|test)_[A-Za-z0-9_-]{43}"

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/**
 * Blacks out secrets in text that leaves the process: the last line of defence behind Redacted.
 *
 * A third party's error message may quote a request with its credentials, and an exception may contain what it was
 * given; neither passes through a type of ours.
 *
 * Makes a function that blacks out the given secrets, as they are or as JSON writes them, and every API key.
 */
const makeScrubber = (secrets: ReadonlyArray<Redacted.Redacted>): ((text: string) => string) => {
  const texts = secrets.map(Redacted.value).flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  // Longest first, so that no part of a secret is left over where another is its beginning.
  const known = [...new Set(texts)].sort((a, b) => b.length - a.length).map(escaped)
  const pattern = new RegExp([...known, apiKey].join("|"), "gi")
  return (text) => text.replace(pattern, "<redacted>")
}

/** OTLP/JSON writes numbers that JSON has no form for as text. */
const finite = (_: string, value: unknown) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value

/** A metric's unit is a field of its own; the attributes that the library takes it from are labels of no use. */
const isUnit = (attribute: unknown): boolean =>
  typeof attribute === "object" &&
  attribute !== null &&
  "key" in attribute &&
  /^(time_)?unit$/u.test(`${attribute.key}`)

/** What the library counts without saying of what; `1` is the unit of a ratio, and Prometheus names it one. */
export const unitsOfLibrary: Readonly<Record<string, string>> = {
  effect_cluster_entities: "{entity}",
  effect_cluster_entity_mailbox_size: "{message}",
  effect_cluster_entity_mailbox_size_max: "{message}",
  effect_cluster_singletons: "{singleton}",
  effect_cluster_runners: "{runner}",
  effect_cluster_runners_healthy: "{runner}",
  effect_cluster_shards: "{shard}",
  effect_cluster_shards_releasing: "{shard}"
}

const isMetric = (value: unknown): value is { readonly name: string; readonly unit: string } =>
  typeof value === "object" && value !== null && "name" in value && "unit" in value

const withUnits = (key: string, value: unknown) => {
  if (key === "attributes" && Array.isArray(value)) return value.filter((one) => !isUnit(one))
  return isMetric(value) ? { ...value, unit: unitsOfLibrary[value.name] ?? value.unit } : finite(key, value)
}

const scrubbedJson = (scrub: (text: string) => string) => {
  const body = (replace: typeof finite) => (data: unknown) =>
    HttpBody.text(scrub(JSON.stringify(data, replace)), "application/json")
  return Layer.succeed(OtlpSerialization.OtlpSerialization, {
    traces: body(finite),
    metrics: body(withUnits),
    logs: body(finite)
  })
}

export const Telemetry = Layer.unwrap(
  Effect.gen(function* () {
    const config = yield* TelemetryConfig
    const scrub = makeScrubber(config.secrets)
    const line = config.logFormat === "json" ? jsonLine(config.serviceName) : prettyLine
    const console = Logger.withConsoleLog(Logger.map(line, scrub))
    const level = Layer.succeed(References.MinimumLogLevel, config.logLevel)
    if (config.otlp === null) return Layer.merge(level, Logger.layer([console]))

    const { endpoint, headers, traceRatio } = config.otlp
    const instance = yield* Effect.flatMap(SecureRandom.SecureRandom, ({ uuidV4 }) => uuidV4())
    const registry = Context.pick(Metric.MetricRegistry)(yield* Effect.context<never>())
    const options = (signal: string) => ({
      url: `${endpoint}/v1/${signal}`,
      headers: Redacted.value(headers),
      resource: {
        serviceName: config.serviceName,
        serviceVersion: config.serviceVersion,
        // Which of several processes it was; a deployment may say so itself, for example by the name of a pod.
        attributes: { "service.namespace": "ballast", "service.instance.id": instance, ...config.resourceAttributes }
      }
    })
    return Layer.mergeAll(
      level,
      // So that a statement's span shows how long it waited for a connection (SpanMetrics.ts).
      Layer.succeed(SpanPropagationEnabled, true),
      Logger.layer([console, OtlpLogger.make(options("logs"))]),
      OtlpMetrics.layer(options("metrics")),
      runtimeMetrics,
      Layer.effect(
        Tracer.Tracer,
        Effect.map(OtlpTracer.make(options("traces")), (tracer) =>
          quietPolls(measured(registry)(sampling(traceRatio)(tracer)))
        )
      )
    ).pipe(
      Layer.provideMerge(OtlpExporter.layerFlusher),
      Layer.provide([
        scrubbedJson(scrub),
        // The exporters are built before the loggers are in force.
        collectorClient(endpoint).pipe(Layer.provide(Layer.merge(level, Logger.layer([console]))))
      ])
    )
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))
