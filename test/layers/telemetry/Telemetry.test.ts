import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Console, Effect, Layer, Metric, Redacted } from "effect"
import { rebalanceRuns } from "#domain/effects/Metrics.ts"
import { ClusterMetrics } from "effect/cluster"
import { Telemetry, unitsOfLibrary } from "#layers/telemetry/Telemetry.ts"
import { TelemetryConfig } from "#layers/telemetry/TelemetryConfig.ts"

const privateKey = `0x${"5ec7e7".repeat(10)}abcd`
const apiKey = `bk_live_${"Abc_-012345".repeat(4).slice(0, 43)}`

const configWith = (overrides: Partial<TelemetryConfig["Service"]>): TelemetryConfig["Service"] => ({
  serviceName: "ballast-test",
  serviceVersion: "1.2.3",
  resourceAttributes: { "deployment.environment": "test" },
  otlp: null,
  logLevel: "Info",
  logFormat: "json",
  secrets: [Redacted.make(privateKey), Redacted.make('quo"ted-secret')],
  ...overrides
})

/** Runs a program under the telemetry of a configuration and answers the lines that it wrote. */
const linesOf = (program: Effect.Effect<unknown>, overrides: Partial<TelemetryConfig["Service"]> = {}) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const console = { ...(yield* Console.Console), log: (line: string) => lines.push(line) }
    yield* program.pipe(
      Effect.provide(Telemetry.pipe(Layer.provide(Layer.succeed(TelemetryConfig, configWith(overrides))))),
      Effect.provideService(Console.Console, console as Console.Console)
    )
    return lines
  })

const leak = Effect.gen(function* () {
  yield* Effect.logInfo("key", Redacted.make(privateKey), {
    nested: { key: Redacted.make(privateKey), plain: privateKey }
  })
  yield* Effect.logWarning(`request with ${apiKey} and ${privateKey.toUpperCase()} failed`, {
    header: 'quo"ted-secret'
  })
  yield* Effect.logError("died", Cause.die(new Error(`cannot use ${privateKey}`, { cause: new Error(apiKey) })))
}).pipe(
  Effect.annotateLogs({ authorization: apiKey }),
  Effect.withSpan("leak", { kind: "server", attributes: { key: privateKey } })
)

const assertClean = (text: string) => {
  for (const secret of [privateKey.slice(2), apiKey, 'quo"ted-secret', 'quo\\"ted-secret']) {
    assert.notInclude(text.toLowerCase(), secret.toLowerCase())
  }
}

describe("Telemetry", () => {
  it.effect("writes one JSON object a line, with time, trace and data", () =>
    Effect.gen(function* () {
      const [line, ...others] = yield* linesOf(
        Effect.logInfo("run finished", { amount: 12n }).pipe(
          Effect.annotateLogs({ portfolioId: "pf_1" }),
          Effect.withSpan("run")
        )
      )
      assert.strictEqual(others.length, 0)
      const entry = JSON.parse(line!)
      assert.strictEqual(entry.timestamp, "1970-01-01T00:00:00.000Z")
      assert.strictEqual(entry.level, "Info")
      assert.strictEqual(entry.service, "ballast-test")
      assert.strictEqual(entry.message, "run finished")
      assert.strictEqual(entry.portfolioId, "pf_1")
      assert.match(entry.correlationId, /^[0-9a-f]{32}$/)
      assert.match(entry.spanId, /^[0-9a-f]{16}$/)
      assert.property(entry.data, "amount")
    })
  )

  it.effect("names the request's own correlation id, with a span and without", () =>
    Effect.gen(function* () {
      const logged = Effect.logInfo("answered").pipe(
        Effect.annotateLogs({ correlationId: "of-the-caller", level: "none" })
      )
      for (const line of yield* linesOf(Effect.andThen(logged, Effect.withSpan(logged, "request")))) {
        assert.strictEqual(JSON.parse(line).correlationId, "of-the-caller")
        assert.strictEqual(JSON.parse(line).level, "Info")
      }
    })
  )

  it.effect("keeps a line that is too long readable", () =>
    Effect.gen(function* () {
      const [line] = yield* linesOf(
        Effect.logInfo("x".repeat(10_000), { huge: Array.from({ length: 20_000 }, (_, index) => index) })
      )
      assert.isBelow(line!.length, 70_000)
      assert.match(JSON.parse(line!).data, /characters left out/)
    })
  )

  it.effect("writes below no level that is configured", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf(Effect.andThen(Effect.logInfo("no"), Effect.logWarning("yes")), { logLevel: "Warn" })
      assert.strictEqual(lines.length, 1)
    })
  )

  it.effect("shows no key in either format, whichever way it got in", () =>
    Effect.gen(function* () {
      for (const logFormat of ["json", "pretty"] as const) {
        const lines = yield* linesOf(leak, { logFormat })
        assert.strictEqual(lines.length, 3)
        assertClean(lines.join("\n"))
      }
    })
  )

  it.live("exports traces, metrics and logs with the resource, the headers and no key", () =>
    Effect.gen(function* () {
      const received = new Map<string, string>()
      let authorization: string | undefined
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          received.set(request.url!, `${received.get(request.url!) ?? ""}${Buffer.concat(chunks).toString()}`)
          authorization = request.headers.authorization
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      })
      yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const headers = Redacted.make({ authorization: "Bearer collector-token" })
      const gauges = Object.values(ClusterMetrics).filter(
        (metric) => Metric.isMetric(metric) && metric.type === "Gauge"
      )
      assert.sameMembers(
        gauges.map(({ id }) => id),
        Object.keys(unitsOfLibrary)
      )
      const ofLibrary = Effect.forEach(gauges, (gauge) => Metric.update(gauge as Metric.Gauge<bigint>, 1n))
      const runs = Metric.update(Metric.withAttributes(rebalanceRuns, { outcome: "completed" }), 1)
      yield* linesOf(Effect.andThen(leak, Effect.andThen(runs, ofLibrary)), {
        otlp: { endpoint, headers, traceRatio: 1 }
      })
      yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))

      assert.sameMembers([...received.keys()], ["/v1/traces", "/v1/metrics", "/v1/logs"])
      assert.strictEqual(authorization, "Bearer collector-token")
      assert.include(received.get("/v1/traces"), '"leak"')
      const metrics = received.get("/v1/metrics")!
      assert.include(metrics, '"name":"ballast_rebalance_runs"')
      assert.include(metrics, '"unit":"{run}"')
      assert.include(metrics, '"name":"process.memory.usage"')
      const units = [
        ...metrics.matchAll(/"name":"([^"]+)","description":"[^"]*","unit":"1"|"name":"([^"]+)","unit":"1"/gu)
      ]
      assert.deepStrictEqual(
        units.map(([, named, bare]) => named ?? bare),
        ["nodejs.eventloop.utilization"]
      )
      assert.include(metrics, '"name":"effect_cluster_shards","unit":"{shard}"')
      // The unit is a field; as an attribute it would be a label of every series.
      assert.notMatch(metrics, /"key":"(time_)?unit"/u)
      for (const body of received.values()) {
        assert.include(body, "ballast-test")
        assert.include(body, "deployment.environment")
        assert.include(body, '{"key":"service.namespace","value":{"stringValue":"ballast"}}')
        assert.match(body, /"service.instance.id","value":\{"stringValue":"[0-9a-f-]{36}"/u)
        assertClean(body)
      }
    })
  )

  it.live("a collector that is away stops nothing, and is one line at Warn", () =>
    Effect.gen(function* () {
      const otlp = { endpoint: "http://127.0.0.1:9", headers: Redacted.make({}), traceRatio: 1 }
      const lines = (yield* linesOf(leak, { otlp })).map((line) => JSON.parse(line))
      const reported = lines.filter(({ message }) => message.includes("collector at http://127.0.0.1:9"))
      assert.deepStrictEqual(
        reported.map(({ level }) => level),
        ["Warn"]
      )
    })
  )
})
