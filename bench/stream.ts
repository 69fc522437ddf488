/**
 * The stream worker against a bare `ws` broadcast loop and against Socket.IO, in one run: memory of idle sockets, a
 * storm of clients that come back, fan-out and delay.
 */
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { type Child, startChild, startServer } from "#bench/stream/child.ts"

/** `BENCH_ROUNDS` shortens a run. */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const seconds = 1
const rate = 1_000
const quietRate = 50
const fanOut = 1_000
const idle = 10_000
const storm = 5_000
const stormRate = 10
/** Share of the sockets that read their messages: one in so many. */
const readEvery = 50
/**
 * V8's young generation grows to tens of megabytes under any load, whatever the number of sockets, and how much of it
 * is resident is chance. For the memory of sockets both servers get the same small one.
 */
const memoryFlags = ["--max-semi-space-size=2"]
const servers = ["worker", "bare", "socketIo"] as const
type Server = (typeof servers)[number]
const names: Readonly<Record<Server, string>> = { worker: "worker", bare: "bare ws", socketIo: "Socket.IO" }

interface Round {
  readonly messagesPerSecond: number
  /** Seconds of CPU for a million deliveries. */
  readonly cpuPerMillion: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly share: number
}

const line = ({ max, median, min }: ReturnType<typeof spreadOf>, digits: number) =>
  [min, median, max].map((value) => value.toFixed(digits)).join(" / ")
const text = (values: ReadonlyArray<number>, digits: number) => line(spreadOf(values), digits)

/** Figures of the same rounds. */
interface Compared {
  readonly over: ReadonlyArray<number>
  readonly under: ReadonlyArray<number>
}

/** Prints a ratio of the same rounds, and whether its median is what the worker promises. */
const ratio = (what: string, { over, under }: Compared, isMet?: (median: number) => boolean) => {
  const spread = spreadOfRatios(over, under)
  const verdict = isMet === undefined ? "" : isMet(spread.median) ? ", met" : ", not met"
  console.log(`  ${what}: ${line(spread, 2)}${verdict}`)
}

/** The order of a round, another one in each, so that nobody always has the machine as another left it. */
const turns = <Name extends Server>(among: ReadonlyArray<Name>, round: number): ReadonlyArray<Name> =>
  among.map((_, turn) => among[(round + turn) % among.length]!)

const measure = async (load: Child, server: Server, publishRate: number): Promise<Round> => {
  const { child, path, port } = await startServer(server)
  await load.ask({ do: "open", port, path, sockets: fanOut, readEvery }, "done")
  const expected = publishRate * seconds * fanOut
  const { seconds: cpuBefore } = await child.ask({ do: "cpu" }, "cpu")
  const counted = load.ask({ do: "count", expected }, "counted")
  await child.ask({ do: "publish", rate: publishRate, seconds }, "published")
  const { broken, messages, p50Ms, p99Ms, seconds: took } = await counted
  if (broken > 0) throw new Error(`${server}: ${broken} sockets have a hole or a repeat`)
  const { seconds: cpuAfter } = await child.ask({ do: "cpu" }, "cpu")
  await load.ask({ do: "close" }, "done")
  await child.stop()
  return {
    messagesPerSecond: messages / took,
    cpuPerMillion: (cpuAfter - cpuBefore) / (messages / 1e6),
    p50Ms,
    p99Ms,
    share: messages / expected
  }
}

const compare = async (load: Child, publishRate: number, hasTargets: boolean) => {
  console.log(`\n1 topic, ${publishRate} messages/s to ${fanOut} sockets; ${rounds} interleaved rounds of ${seconds} s`)
  const results: Record<Server, Array<Round>> = { worker: [], bare: [], socketIo: [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const server of turns(servers, round)) {
      const result = await measure(load, server, publishRate)
      results[server].push(result)
      console.log(`  round ${round + 1}, ${names[server]}: ${result.messagesPerSecond.toFixed(0)} deliveries/s`)
    }
  }
  const of = (server: Server, figure: keyof Round) => results[server].map((one) => one[figure])
  for (const server of servers) {
    const delays = `delay p50 ms ${text(of(server, "p50Ms"), 1)}, p99 ms ${text(of(server, "p99Ms"), 1)}`
    const share = `share delivered ${text(of(server, "share"), 3)}`
    console.log(`  ${names[server]}: deliveries/s ${text(of(server, "messagesPerSecond"), 0)}; ${delays}; ${share}`)
  }
  const deliveries = (peer: Server, target: number) =>
    ratio(
      `deliveries/s, worker / ${names[peer]}${hasTargets ? ` (target ${target})` : ""}`,
      { over: of("worker", "messagesPerSecond"), under: of(peer, "messagesPerSecond") },
      hasTargets ? (median) => median >= target : undefined
    )
  deliveries("bare", 0.9)
  deliveries("socketIo", 3)
  for (const peer of ["bare", "socketIo"] as const) {
    ratio(`CPU of a delivery, ${names[peer]} / worker`, {
      over: of(peer, "cpuPerMillion"),
      under: of("worker", "cpuPerMillion")
    })
  }
}

/** KiB of one idle socket: of the process, and of live objects. */
const memoryOf = async (load: Child, server: Server) => {
  const { child, path, port } = await startServer(server, memoryFlags)
  await load.ask({ do: "open", port, path, sockets: 100, readEvery }, "done")
  await load.ask({ do: "close" }, "done")
  const before = await child.ask({ do: "memory" }, "memory")
  await load.ask({ do: "open", port, path, sockets: idle, readEvery }, "done")
  const after = await child.ask({ do: "memory" }, "memory")
  await load.ask({ do: "close" }, "done")
  await child.stop()
  return {
    resident: (after.resident - before.resident) / idle / 1024,
    heap: (after.heap - before.heap) / idle / 1024
  }
}

const memory = async (load: Child) => {
  console.log(`\nMemory of a socket, ${idle} idle, in KiB; ${rounds} interleaved rounds`)
  const peers = ["worker", "bare"] as const
  const kib = { worker: [] as Array<number>, bare: [] as Array<number> }
  const live = { worker: [] as Array<number>, bare: [] as Array<number> }
  for (let round = 0; round < rounds; round += 1) {
    for (const server of turns(peers, round)) {
      const { heap, resident } = await memoryOf(load, server)
      kib[server].push(resident)
      live[server].push(heap)
    }
  }
  for (const server of peers) {
    console.log(`  ${names[server]}: resident ${text(kib[server], 2)}, live objects ${text(live[server], 2)}`)
  }
  ratio(
    "resident, worker / bare ws (target 1.3 at most)",
    { over: kib.worker, under: kib.bare },
    (median) => median <= 1.3
  )
  ratio(
    "live objects, worker / bare ws (target 1.3 at most)",
    { over: live.worker, under: live.bare },
    (median) => median <= 1.3
  )
}

const comeBack = async (load: Child) => {
  const { child, path, port } = await startServer("worker")
  await load.ask({ do: "open", port, path, sockets: storm, readEvery: 1 }, "done")
  const first = load.ask({ do: "count", expected: stormRate * 2 * storm }, "counted")
  await child.ask({ do: "publish", rate: stormRate, seconds: 2 }, "published")
  await first
  // Published while nobody is there, while they come back, and until the server is stopped.
  child.ask({ do: "publish", rate: stormRate, seconds: 3_600 }, "published").catch(() => undefined)
  const { broken, openSeconds, steadySeconds } = await load.ask({ do: "resume", port, path }, "resumed")
  await load.ask({ do: "close" }, "done")
  await child.stop()
  return { openSeconds, steadySeconds, broken }
}

const storms = async (load: Child) => {
  console.log(`\nStorm: ${storm} clients break off and resume at once, at ${stormRate} messages/s; ${rounds} rounds`)
  const results: Array<Awaited<ReturnType<typeof comeBack>>> = []
  for (let round = 0; round < rounds; round += 1) results.push(await comeBack(load))
  const of = (figure: "openSeconds" | "steadySeconds" | "broken") => results.map((one) => one[figure])
  console.log(`  seconds until all are connected: ${text(of("openSeconds"), 2)}`)
  console.log(`  seconds to steady state, each with a message of after that: ${text(of("steadySeconds"), 2)}`)
  const broken = of("broken").reduce((sum, count) => sum + count, 0)
  console.log(
    `  clients with a hole or a repeat: ${broken} of ${storm * rounds} (target 0), ${broken === 0 ? "met" : "not met"}`
  )
}

export const run = async (): Promise<void> => {
  const load = await startChild("load")
  try {
    await memory(load)
    await storms(load)
    await compare(load, quietRate, false)
    await compare(load, rate, true)
  } finally {
    await load.stop()
  }
}
