/**
 * Compares reads over every wire of the procedures and by a plain GET, of one service in one run: a read of the
 * database with a key, and a public one out of memory.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { connections, type Generator, Loaded } from "#bench/http/generator.ts"
import { type OwnedProcess, ProcessFailed, startProcess } from "#bench/http/ownedProcess.ts"
import { report } from "#bench/http/report.ts"
import { measureRounds } from "#bench/http/rounds.ts"
import { seed } from "#bench/http/seed.ts"
import { startService } from "#bench/http/service.ts"
import { type Read, type Wire, wires } from "#bench/rpc/wires.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import * as Ids from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import * as OperationStoreLive from "#layers/sql/operation/OperationStore.ts"

const rounds = { rounds: 6, seconds: 2, warmUpSeconds: 1 }

/** The operation is the benchmark's; no engine runs it. */
const settings = {
  MAX_RUNS_IN_FLIGHT: "0",
  SCHEDULER_INTERVAL_MS: "3600000",
  COINGECKO_URL: "http://127.0.0.1:9",
  STREAMS_MAX_PER_TENANT: "1000",
  STREAMS_MAX_PER_KEY: "1000",
  STREAMS_MAX_PER_ADDRESS: "1000"
}

const operationOf = Effect.fnUntraced(function* (portfolioId: Ids.PortfolioId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: Ids.TenantId }>`SELECT tenant_id AS id FROM tenants`
  const operationId = yield* Ids.makeOperationId
  const now = yield* DateTime.now
  yield* (yield* OperationStore).submitManual({ operationId, tenantId: row!.id, portfolioId, now, cooldownMs: 0 })
  return operationId
})

const decodeLoaded = Schema.decodeUnknownEffect(Loaded)

/** A wire takes the place of a server, as all are of one. */
const generatorOf = (load: OwnedProcess, key: string, read: Read): Generator => ({
  load: Effect.fnUntraced(function* ({ baseUrl, name }, { seconds }) {
    const order = { baseUrl, key, wire: name as Wire, read, connections, seconds }
    const loaded = yield* decodeLoaded(yield* load.ask(order))
    if (loaded.failed === 0 && loaded.answered > 0) return loaded
    return yield* new ProcessFailed({ message: `${name}: ${loaded.answered} answers, ${loaded.failed} failed` })
  })
})

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  const { pepper, portfolioIds, secret } = yield* seed(database, { portfolios: 1, polled: 0 })
  const [portfolioId] = portfolioIds
  const operationId = yield* operationOf(portfolioId!).pipe(
    Effect.provide(OperationStoreLive.layer.pipe(Layer.provideMerge(databaseLayer(database))))
  )
  const service = yield* startService(database, pepper, settings)
  const load = yield* startProcess("The load", new URL("rpc/loadProcess.ts", import.meta.url))
  const search = { q: "usdc" }
  const reads: ReadonlyArray<Read> = [
    {
      name: "an operation, by its key",
      procedure: "v2.executions.get",
      payload: { operationId },
      route: `/v2/portfolios/${portfolioId}/operations/${operationId}`
    },
    {
      name: "a search of tokens, public",
      procedure: "assets.searchForTokens",
      payload: search,
      route: `/v1/rpc/assets.searchForTokens?input=${encodeURIComponent(JSON.stringify({ json: search }))}`
    }
  ]
  for (const read of reads) {
    const servers = wires.map((name) => ({ name, pid: service.pid, baseUrl: service.baseUrl }))
    const [first, ...others] = yield* measureRounds(generatorOf(load, secret, read), { servers, routes: [] }, rounds)
    yield* Console.log(report(read.name, rounds, [first!, ...others]))
  }
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

export const run = (): Promise<void> => runUntilSignal(program)
