/** CPU seconds of the programs of a round, user and system: they share two cores, so together they bound the rate. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cpuSeconds } from "#bench/http/rounds.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"

export interface CpuTimes {
  /** This process: the service, or the bare script. */
  readonly own: number
  readonly chain: number
  readonly database: number
}

/** CPU seconds of this database's sessions; 0 where their processes are not on this machine. */
const databaseSeconds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly pid: number }>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND inet_server_addr() <<= '127.0.0.0/8'`
  return rows.reduce((sum, { pid }) => sum + (cpuSeconds(pid) ?? 0), 0)
})

const timesOf = Effect.fnUntraced(function* (chain: Chain) {
  const { system, user } = process.cpuUsage()
  const times: CpuTimes = {
    own: (system + user) / 1_000_000,
    chain: cpuSeconds(chain.process.pid) ?? 0,
    database: yield* databaseSeconds
  }
  return times
})

/** What the programs use while `work` is done. */
export const cpuTimesOf = Effect.fnUntraced(function* <A, E, R>(chain: Chain, work: Effect.Effect<A, E, R>) {
  const before = yield* timesOf(chain)
  const answer = yield* work
  const after = yield* timesOf(chain)
  const used: CpuTimes = {
    own: after.own - before.own,
    chain: after.chain - before.chain,
    database: after.database - before.database
  }
  return [used, answer] as const
})
