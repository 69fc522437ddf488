/**
 * The engine: runs a second beside job queues and by the number of processes, drift checks a second of what needs
 * no run, claims a second at a million schedules beside the bare table, and how long the work of a process stands still
 * that is killed or stopped.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes databases of its own and drops them afterwards.
 */
import { Effect } from "effect"
import { claims } from "#bench/engine/claims.ts"
import { failover } from "#bench/engine/failover.ts"
import { driftChecks } from "#bench/engine/driftChecks.ts"
import { scaling } from "#bench/engine/scaling.ts"
import { throughput } from "#bench/engine/throughput.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"

const parts = { throughput, scaling, checks: driftChecks, claims, failover }

const program = Effect.gen(function* () {
  const wanted = process.argv.slice(3)
  for (const [name, part] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) yield* part
})

export const run = (): Promise<void> => runUntilSignal(program)
