/**
 * The service against what a team would write without it, on one machine, in one run, over the same rows: the reads
 * that integrators poll, against Fastify with pg.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, Effect } from "effect"
import { benchDatabase } from "#bench/http/benchDatabase.ts"
import { startGenerator } from "#bench/http/generator.ts"
import { readsComparison } from "#bench/http/readsComparison.ts"
import { seed } from "#bench/http/seed.ts"
import { startPeer } from "#bench/http/Server.ts"
import { startService, upstreamSettings } from "#bench/http/service.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const size = { portfolios: 10_000, polled: 50 }

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Console.log(`Seeding ${size.portfolios} portfolios ...`)
  const seeded = yield* seed(database, size)
  const { baseUrl: upstream } = yield* startPeer("Chains and prices", "upstream.ts", {})
  const service = yield* startService(database, seeded.pepper, upstreamSettings(upstream))
  const generator = yield* startGenerator(seeded.secret)
  yield* readsComparison({ database, upstream, seeded, service, generator })
})

export const run = (): Promise<void> => runUntilSignal(program)
