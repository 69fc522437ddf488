/** What the process and its runtime use, every ten seconds. Names and units are those of the semantic conventions. */
import { Effect, Layer, Metric, Schedule } from "effect"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"

const gauge = (name: string, description: string, unit: string) =>
  Metric.gauge(name, { description, attributes: { unit } })

/** Memory that the system gave to the process. */
export const memoryUsage = gauge("process.memory.usage", "The amount of physical memory in use", "By")

/** Seconds of processor time. Attribute `cpu.mode`: `user` or `system`. */
export const cpuTime = Metric.counter("process.cpu.time", {
  description: "Total CPU seconds broken down by different CPU modes",
  incremental: true,
  attributes: { unit: "s" }
})

export const uptime = gauge("process.uptime", "The time the process has been running", "s")
export const heapUsed = gauge("v8js.memory.heap.used", "Heap memory size allocated", "By")
export const heapLimit = gauge("v8js.memory.heap.limit", "Total heap memory size pre-allocated", "By")
export const loopUtilization = gauge("nodejs.eventloop.utilization", "Event loop utilization", "1")
export const loopDelay50 = gauge("nodejs.eventloop.delay.p50", "Event loop 50th percentile delay", "s")
export const loopDelay99 = gauge("nodejs.eventloop.delay.p99", "Event loop 99th percentile delay", "s")
export const loopDelayMax = gauge("nodejs.eventloop.delay.max", "Event loop maximum delay", "s")

const interval = "10 seconds"

const sampled = Effect.gen(function* () {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: 20 })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  let before = { cpu: process.cpuUsage(), loop: performance.eventLoopUtilization() }

  const sample = Effect.gen(function* () {
    const cpu = process.cpuUsage(before.cpu)
    const loop = performance.eventLoopUtilization()
    const heap = getHeapStatistics()
    const inSeconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)
    yield* Metric.update(memoryUsage, process.memoryUsage.rss())
    yield* Metric.update(Metric.withAttributes(cpuTime, { "cpu.mode": "user" }), cpu.user / 1e6)
    yield* Metric.update(Metric.withAttributes(cpuTime, { "cpu.mode": "system" }), cpu.system / 1e6)
    yield* Metric.update(uptime, process.uptime())
    yield* Metric.update(heapUsed, heap.used_heap_size)
    yield* Metric.update(heapLimit, heap.heap_size_limit)
    yield* Metric.update(loopUtilization, performance.eventLoopUtilization(loop, before.loop).utilization)
    yield* Metric.update(loopDelay50, inSeconds(delay.percentile(50)))
    yield* Metric.update(loopDelay99, inSeconds(delay.percentile(99)))
    yield* Metric.update(loopDelayMax, inSeconds(delay.max))
    before = { cpu: process.cpuUsage(), loop }
    delay.reset()
  })

  yield* sample
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(sample, interval), Schedule.forever))
})

export const runtimeMetrics = Layer.effectDiscard(sampled)
