/** An OpenTelemetry collector that keeps what it is sent (OTLP/JSON over HTTP), for tests to read. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
}

export interface Collector {
  readonly endpoint: string
  readonly spans: () => ReadonlyArray<CollectedSpan>
  readonly metricNames: () => ReadonlySet<string>
  /** Everything that arrived, as text. */
  readonly raw: () => string
  readonly stop: () => void
}

export const startCollector = async (): Promise<Collector> => {
  const bodies: Array<{ readonly path: string; readonly text: string }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      bodies.push({ path: request.url ?? "", text: Buffer.concat(chunks).toString("utf8") })
      response.setHeader("content-type", "application/json").end("{}")
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")

  const parsed = (path: string): ReadonlyArray<any> =>
    bodies.filter((body) => body.path === path).map(({ text }) => JSON.parse(text))

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () =>
      parsed("/v1/traces").flatMap((body) =>
        body.resourceSpans.flatMap((r: any) => r.scopeSpans.flatMap((s: any) => s.spans))
      ),
    metricNames: () =>
      new Set(
        parsed("/v1/metrics").flatMap((body) =>
          body.resourceMetrics.flatMap((r: any) =>
            r.scopeMetrics.flatMap((s: any) => s.metrics.map((m: any) => m.name))
          )
        )
      ),
    raw: () => bodies.map(({ text }) => text).join("\n"),
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
