/** An OpenTelemetry collector that keeps what it is sent (OTLP/JSON over HTTP), for tests to read. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

interface CollectedSpan {
  readonly name: string
  readonly traceId: string
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
  const texts: Array<string> = []
  const spans: Array<CollectedSpan> = []
  const metricNames = new Set<string>()
  const keep = (path: string, text: string) => {
    texts.push(text)
    const body: any = path === "/v1/logs" ? {} : JSON.parse(text)
    for (const { scopeSpans } of body.resourceSpans ?? []) {
      for (const scope of scopeSpans) spans.push(...scope.spans)
    }
    for (const { scopeMetrics } of body.resourceMetrics ?? []) {
      for (const { metrics } of scopeMetrics) for (const { name } of metrics) metricNames.add(name)
    }
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      keep(request.url ?? "", Buffer.concat(chunks).toString("utf8"))
      response.setHeader("content-type", "application/json").end("{}")
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    metricNames: () => metricNames,
    raw: () => texts.join("\n"),
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
