/**
 * How long an event takes from its commit to those who follow its operation on another process than the one that wrote
 * it: this process writes, a service with its own settings answers, and a third process reads the streams.
 */
import { Console, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { decodeCounted, decodeDone, timedOperation, percentile } from "#bench/events/timedOperation.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { startProcess } from "#bench/http/ownedProcess.ts"
import { seed } from "#bench/http/seed.ts"
import { startService } from "#bench/http/service.ts"
import * as OperationStoreLive from "#layers/sql/operation/OperationStore.ts"

const clients = 20
const events = 100
const targetMs = 250

/** Spread over the interval of the poller; 61 and 200 have no common divisor. */
const pauseBefore = (event: number) => Effect.sleep((event * 61) % 200)

/** no engine runs the operation; streams keep the settings that a deployment begins with. */
const settings = {
  MAX_RUNS_IN_FLIGHT: "0",
  SCHEDULER_INTERVAL_MS: "3600000",
  COINGECKO_URL: "http://127.0.0.1:9"
}

export const measureFromCommit = Effect.gen(function* () {
  const database = yield* benchDatabase
  const { pepper, portfolioIds, secret } = yield* seed(database, { portfolios: 1, polled: 0 })
  const { baseUrl } = yield* startService(database, pepper, settings)
  const load = yield* startProcess("The clients", new URL("../events/clients.ts", import.meta.url))
  const measured = Effect.gen(function* () {
    const { operationId, publish } = yield* timedOperation(portfolioIds[0]!)
    const path = `/v1/executions/${operationId}/stream`
    yield* decodeDone(yield* load.ask({ do: "open", port: Number(new URL(baseUrl).port), path, key: secret, clients }))
    const delays: Array<number> = []
    for (let event = 0; event < events; event += 1) {
      yield* pauseBefore(event)
      yield* publish
      delays.push(...(yield* decodeCounted(yield* load.ask({ do: "count", expected: clients }))).delays)
    }
    yield* decodeDone(yield* load.ask({ do: "close" }))
    if (delays.length !== clients * events) return yield* Effect.die(new Error("events came twice or not at all"))
    return delays
  })
  const store = OperationStoreLive.layer.pipe(Layer.provideMerge(databaseLayer(database)))
  const delays = yield* Effect.provide(measured, store)
  const p99 = percentile(delays, 0.99)
  yield* Console.log(`Events from before the commit to SSE on another process, ${events} events to ${clients} clients`)
  yield* Console.log(`  p50 ${percentile(delays, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  yield* Console.log(`  Target: p99 under ${targetMs} ms, ${p99 < targetMs ? "met" : "not met"}`)
}).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.scoped)
