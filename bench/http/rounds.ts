/** Short rounds in which every server gets its turn, so that what else the machine does falls on all of them alike. */
import { Effect } from "effect"
import type { Generator, Load, Paths } from "#bench/http/generator.ts"
import type { Server } from "#bench/http/Server.ts"
import { readFileSync } from "node:fs"

/** What Linux counts process times in, on every architecture that Node runs on. */
const ticksPerSecond = 100

/** Fields 14 and 15 of the line; the second field, the program's name, may hold spaces and parentheses. */
export const parseStat = (stat: string): number => {
  const [, userTicks, systemTicks] = /^.*\)(?: \S+){11} (\d+) (\d+) /su.exec(stat) ?? []
  if (userTicks === undefined || systemTicks === undefined) throw new Error(`Not a line of /proc/<pid>/stat: ${stat}`)
  return (Number(userTicks) + Number(systemTicks)) / ticksPerSecond
}

/**
 * CPU seconds of a process, all threads, user and system; null where there is no /proc. Steadier than requests per
 * second on a machine that does other things too. Source: proc_pid_stat(5).
 */
export const cpuSeconds = (pid: number): number | null =>
  process.platform === "linux" ? parseStat(readFileSync(`/proc/${pid}/stat`, "utf8")) : null

/** How long one load is measured. */
export interface Rounds {
  readonly rounds: number
  /** Seconds of load that each server gets in a round. */
  readonly seconds: number
  readonly warmUpSeconds: number
}

/** One server's measurements, a value a round. */
export interface Measured {
  readonly name: string
  readonly requestsPerSecond: ReadonlyArray<number>
  /** CPU microseconds of the server's process for one request; empty where the system does not report it. */
  readonly cpuMicros: ReadonlyArray<number>
}

const measureOnce = Effect.fnUntraced(function* (generator: Generator, server: Server, load: Load) {
  const before = cpuSeconds(server.pid)
  const { answered, seconds } = yield* generator.load(server, load)
  const after = cpuSeconds(server.pid)
  const cpu = before === null || after === null ? [] : [((after - before) * 1e6) / answered]
  return { name: server.name, requestsPerSecond: answered / seconds, cpu }
})

/** Measurements in the order of `servers`. Which one begins changes from round to round. */
export const measureRounds = Effect.fnUntraced(function* (
  generator: Generator,
  { routes, servers }: { readonly servers: ReadonlyArray<Server>; readonly routes: ReadonlyArray<Paths> },
  { rounds, seconds, warmUpSeconds }: Rounds
) {
  for (const server of servers) yield* generator.load(server, { routes, seconds: warmUpSeconds })
  const results: Array<Effect.Success<ReturnType<typeof measureOnce>>> = []
  for (let round = 0; round < rounds; round += 1) {
    const first = round % servers.length
    for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
      results.push(yield* measureOnce(generator, server, { routes, seconds }))
    }
  }
  return servers.map(({ name }): Measured => {
    const own = results.filter((result) => result.name === name)
    return {
      name,
      requestsPerSecond: own.map(({ requestsPerSecond }) => requestsPerSecond),
      cpuMicros: own.flatMap(({ cpu }) => cpu)
    }
  })
})
