/**
 * Browsing, searching and quoting over 20,000 listed tokens: the service's procedures in process and over HTTP, against
 * the same queries hand-written in Fastify with pg over trigram indexes, which answer the same rows.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, Effect } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fill } from "#bench/assets/fill.ts"
import { inProcess } from "#bench/assets/inProcess.ts"
import { latency } from "#bench/assets/latency.ts"
import { requests } from "#bench/assets/requests.ts"
import { requireSameItems } from "#bench/assets/sameItems.ts"
import { benchDatabase, poolSize } from "#bench/http/benchDatabase.ts"
import { startGenerator } from "#bench/http/generator.ts"
import { report } from "#bench/http/report.ts"
import { measureRounds } from "#bench/http/rounds.ts"
import { startPeer } from "#bench/http/Server.ts"
import { startService } from "#bench/http/service.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const pepper = "p".repeat(64)
const rounds = { rounds: 6, seconds: 2, warmUpSeconds: 2 }
/** CoinGecko counts as there; nothing answers, so what was filled in stays. */
const environment = (list: string) => ({
  COINGECKO_URL: "http://127.0.0.1:9",
  COINGECKO_REFRESH_PER_MINUTE: "1",
  TOKEN_LISTS: list
})

/** The service does not start without one; its token is in the catalogue already. */
const tokenList = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = join(await mkdtemp(join(tmpdir(), "ballast-bench-")), "list.json")
    const token = {
      chainId: 8453,
      address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      symbol: "USDC",
      name: "USD Coin",
      decimals: 6
    }
    const version = { major: 1, minor: 0, patch: 0 }
    await writeFile(
      path,
      JSON.stringify({ name: "bench", timestamp: "2026-03-01T00:00:00Z", version, tokens: [token] })
    )
    return path
  }),
  (path) => Effect.promise(() => rm(dirname(path), { recursive: true }))
)

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Console.log("Filling the catalogue ...")
  yield* fill(database)
  yield* Console.log(yield* inProcess(database))
  const service = yield* startService(database, pepper, environment(yield* tokenList))
  const peer = yield* startPeer("Fastify + pg", "assets.ts", { database, poolSize })
  const all = requests()
  for (const { name, paths } of all) yield* requireSameItems(name, { service, peer }, paths.slice(0, 20))
  for (const { name, paths } of all) yield* Console.log(yield* latency(name, [service, peer], paths))
  const generator = yield* startGenerator("none")
  for (const { name, paths } of all) {
    const [first, ...others] = yield* measureRounds(generator, { servers: [service, peer], routes: [paths] }, rounds)
    yield* Console.log(report(name, rounds, [first!, ...others]))
  }
})

export const run = (): Promise<void> => runUntilSignal(program)
