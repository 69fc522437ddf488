/**
 * Many clients that follow one operation by server-sent events: memory of a client and delay of delivery, of the
 * service and of a bare `node:http` loop in the same run.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 * `npm run bench -- events 200` for fewer clients.
 */
import { Console, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { readFileSync } from "node:fs"
import { decodeCounted, decodeDone, timedOperation, percentile } from "#bench/events/timedOperation.ts"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { type OwnedProcess, startProcess } from "#bench/http/ownedProcess.ts"
import { seed } from "#bench/http/seed.ts"
import { startService } from "#bench/http/service.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import * as OperationStoreLive from "#layers/sql/operation/OperationStore.ts"

const rounds = 3
const events = 10
const targetKiB = 50
const targetMs = 100

/** The operation is the benchmark's; no engine runs it. Events of another process are polled often. */
const settings = {
  MAX_RUNS_IN_FLIGHT: "0",
  SCHEDULER_INTERVAL_MS: "3600000",
  COINGECKO_URL: "http://127.0.0.1:9",
  STREAMS_MAX: "100000",
  STREAMS_MAX_PER_TENANT: "100000",
  STREAMS_MAX_PER_KEY: "100000",
  STREAMS_MAX_PER_ADDRESS: "100000",
  STREAMS_POLL_MS: "10",
  MAX_CONNECTIONS: "10000"
}

const decodePort = Schema.decodeUnknownEffect(Schema.Struct({ port: Schema.Int }))

const residentKiB = (pid: number) =>
  Effect.sync(() => Number(/VmRSS:\s+([0-9]+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]))

interface Side {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly path: string
  readonly publish: Effect.Effect<void, unknown>
}

const measure = Effect.fnUntraced(function* (
  load: OwnedProcess,
  side: Side,
  { clients, key }: { readonly key: string; readonly clients: number }
) {
  const { name, path, pid, port, publish } = side
  const before = yield* residentKiB(pid)
  yield* decodeDone(yield* load.ask({ do: "open", port, path, key, clients }))
  const after = yield* residentKiB(pid)
  const delays: Array<number> = []
  for (let event = 0; event < events; event += 1) {
    yield* publish
    delays.push(...(yield* decodeCounted(yield* load.ask({ do: "count", expected: clients }))).delays)
  }
  yield* decodeDone(yield* load.ask({ do: "close" }))
  if (delays.length !== clients * events)
    return yield* Effect.die(new Error(`${name}: events came twice or not at all`))
  const p50 = percentile(delays, 0.5).toFixed(1)
  const p99 = percentile(delays, 0.99)
  const kib = (after - before) / clients
  yield* Console.log(
    `  ${name.padEnd(10)} ${kib.toFixed(1).padStart(7)} KiB a client, delay p50 ${p50} ms, p99 ${p99.toFixed(1)} ms`
  )
  return { kib, p99 }
})

const program = (clients: number) =>
  Effect.gen(function* () {
    const database = yield* benchDatabase
    const { pepper, portfolioIds, secret } = yield* seed(database, { portfolios: 1, polled: 0 })
    const service = yield* startService(database, pepper, settings)
    const peer = yield* startProcess("node:http", new URL("peers/sse.ts", import.meta.url))
    const load = yield* startProcess("The clients", new URL("events/clients.ts", import.meta.url))
    const { port } = yield* decodePort(yield* peer.ask({}))
    yield* Effect.gen(function* () {
      const { operationId, publish } = yield* timedOperation(portfolioIds[0]!)
      const ours: Side = {
        name: "Ballast",
        pid: service.pid,
        port: Number(new URL(service.baseUrl).port),
        path: `/v1/executions/${operationId}/stream`,
        publish
      }
      const bare: Side = { name: "node:http", pid: peer.pid, port, path: "/", publish: peer.ask({ publish: true }) }
      yield* Console.log(`${clients} clients of one operation, ${events} events; ${rounds} rounds`)
      const results: Array<{ readonly kib: number; readonly p99: number }> = []
      for (let round = 0; round < rounds; round += 1)
        for (const side of round % 2 === 0 ? [ours, bare] : [bare, ours]) {
          const result = yield* measure(load, side, { key: secret, clients })
          if (side === ours) results.push(result)
        }
      // Memory of the first round alone: later ones use again what it left.
      const memory = results[0]!.kib
      const delay = percentile(
        results.map(({ p99 }) => p99),
        0.5
      )
      const verdict = (isMet: boolean) => (isMet ? "met" : "not met")
      yield* Console.log(`  Target: under ${targetKiB} KiB a client, ${verdict(memory < targetKiB)}`)
      yield* Console.log(`  Target: p99 under ${targetMs} ms, ${verdict(delay < targetMs)} with ${delay.toFixed(1)} ms`)
    }).pipe(Effect.provide(OperationStoreLive.layer.pipe(Layer.provideMerge(databaseLayer(database)))))
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

export const run = (): Promise<void> => runUntilSignal(program(Number(process.argv[3] ?? 2_000)))
