/**
 * The service against what a team would write without it, on one machine, in one run, over the same rows: reading a
 * portfolio against Fastify with pg, and `whoami` against a bare node:http server.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, Effect } from "effect"
import { benchDatabase } from "#bench/http/benchDatabase.ts"
import { startGenerator } from "#bench/http/generator.ts"
import { portfolioComparison } from "#bench/http/portfolioComparison.ts"
import { seed } from "#bench/http/seed.ts"
import { startService } from "#bench/http/service.ts"
import { whoamiComparison } from "#bench/http/whoamiComparison.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const program = Effect.gen(function* () {
  const database = yield* benchDatabase
  yield* Console.log("Seeding the database ...")
  const seeded = yield* seed(database)
  const service = yield* startService(database, seeded.pepper)
  const generator = yield* startGenerator(seeded.secret)
  yield* portfolioComparison({ database, seeded, service, generator })
  yield* whoamiComparison({ seeded, service, generator })
})

export const run = (): Promise<void> => runUntilSignal(program)
