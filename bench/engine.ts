/**
 * The engine: runs a second beside job queues, looks a second at portfolios that need none, claims a second at a
 * million schedules beside the bare table, and how long the work of a killed process stands still.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes databases of its own and drops them afterwards.
 */
import { Effect } from "effect"
import { claims } from "#bench/engine/claims.ts"
import { failover } from "#bench/engine/failover.ts"
import { looked } from "#bench/engine/looks.ts"
import { throughput } from "#bench/engine/throughput.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const parts = { throughput, looks: looked, claims, failover }

const program = Effect.gen(function* () {
  const wanted = process.argv.slice(3)
  for (const [name, part] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) yield* part
})

export const run = (): Promise<void> => runUntilSignal(program)
