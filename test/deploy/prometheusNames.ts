/** Names of the service's metrics as a collector gives them to Prometheus, by OpenTelemetry's rules of translation. */
import { Metric } from "effect"
import * as Metrics from "#domain/effects/Metrics.ts"
import * as WorkerMetrics from "#domain/stream/WorkerMetrics.ts"
import * as EndpointMetrics from "#layers/evm/rpc/Endpoint.ts"
import * as PoolMetrics from "#layers/sql/poolMetrics.ts"
import * as RuntimeMetrics from "#layers/telemetry/runtimeMetrics.ts"
import * as SpanMetrics from "#layers/telemetry/SpanMetrics.ts"

type Known = Metric.Metric<never, never>

const suffixes: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes" }

/** Every metric that a process of the service has. */
export const metrics: ReadonlyArray<Known> = [
  Metrics,
  WorkerMetrics,
  RuntimeMetrics,
  SpanMetrics,
  EndpointMetrics,
  PoolMetrics
].flatMap((module) => Object.values<unknown>(module).filter((value): value is Known => Metric.isMetric(value)))

export const unitOf = (metric: Known): string =>
  String((metric.attributes as Readonly<Record<string, string>>)?.["unit"])

/** The series of one metric. */
export const namesOf = (metric: Known): ReadonlyArray<string> => {
  const unit = unitOf(metric)
  const suffix = suffixes[unit] ?? (unit === "1" && metric.type === "Gauge" ? "_ratio" : "")
  const name = `${metric.id.replaceAll(".", "_")}${suffix}`
  if (metric.type === "Counter") return [`${name}_total`]
  return metric.type === "Histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
}
