/** What a deployment logs and measures, and where it sends that. */
import { Context, type LogLevel, type Redacted } from "effect"

export class TelemetryConfig extends Context.Service<
  TelemetryConfig,
  {
    readonly serviceName: string
    readonly serviceVersion: string
    /** OpenTelemetry resource attributes, such as `deployment.environment`. */
    readonly resourceAttributes: Readonly<Record<string, string>>
    /** Null sends nothing. */
    readonly otlp: {
      /** Base URL of the collector's OTLP/HTTP receiver; `/v1/traces` and its like are added. */
      readonly endpoint: string
      readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
      /** Share of new traces that are exported, from 0 to 1. A trace begun by a caller keeps the caller's decision. */
      readonly traceRatio: number
    } | null
    readonly logLevel: LogLevel.LogLevel
    readonly logFormat: "json" | "pretty"
    /** The deployment's secrets; wherever one would appear in a log or an export, it is blacked out. */
    readonly secrets: ReadonlyArray<Redacted.Redacted>
  }
>()("ballast/layers/telemetry/TelemetryConfig") {}
