/** Stream workers as processes on one NATS server, behind a balancer, with a provider that both may ask. */
import { iterate, type StreamFrame } from "#client/stream.ts"
import { startProxy } from "#test/stream/support/cuttableProxy.ts"
import { type MassiveOptions, massiveKey, startMassive } from "#test/stream/support/massiveStandIn.ts"
import { forgetDeployment, freshPrefix, natsUrl } from "#test/stream/support/nats.ts"
import { startWorkerProcess, type WorkerProcess } from "#test/stream/support/workerProcess.ts"

export const symbols = ["TSLA", "AAPL", "MSFT"]
const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

export const until = async (isThere: () => boolean) => {
  while (!isThere()) await wait(10)
}

/** The lines of a worker's log that say whether it holds the lease. */
export const leaseLines = (worker: WorkerProcess): ReadonlyArray<string> =>
  worker
    .log()
    .split("\n")
    .filter((line) => /[Hh]olds? the lease|not hold the lease/u.test(line))

export const startDeployment = async (count: number, options: MassiveOptions & { readonly everyMs: number }) => {
  const prefix = freshPrefix()
  const massive = await startMassive(options.everyMs, options)
  const workers: Array<WorkerProcess> = []
  // Each connection goes to one of the workers that live, by chance.
  const balancer = await startProxy(() => {
    const alive = workers.filter((worker) => worker.isAlive())
    return alive[Math.floor(Math.random() * alive.length)]?.port
  })
  const startWorker = async () => {
    const worker = await startWorkerProcess({
      STREAM_PUBLIC_URL: balancer.url,
      STREAM_REPLAY_WINDOW: "10000",
      MASSIVE_URL: massive.url,
      MASSIVE_API_KEY: massiveKey,
      NATS_URL: natsUrl,
      NATS_PREFIX: prefix,
      LOG_LEVEL: "Debug"
    })
    workers.push(worker)
    return worker
  }
  await Promise.all(Array.from({ length: count }, startWorker))
  await workers[0]!.register(symbols.map((symbol) => ({ assetClass: "equity", provider: "massive", symbol })))
  return {
    prefix,
    massive,
    baseUrl: balancer.url,
    startWorker,
    /** The worker that last said that it holds the lease. */
    holder: () =>
      workers.find((worker) => worker.isAlive() && (leaseLines(worker).at(-1)?.includes("Holds the lease") ?? false)),
    stop: async () => {
      for (const { child } of workers) child.kill("SIGKILL")
      await balancer.stop()
      await massive.stop()
      await forgetDeployment(prefix)
    }
  }
}

/** A user of `ballast/stream`: of one share, or of all as a collection, for odd numbers. */
export const startClient = (baseUrl: string, index: number) => {
  const frames: Array<StreamFrame> = []
  const state = { isOver: false }
  const target =
    index % 2 === 0
      ? ({ kind: "asset", assetClass: "equity", symbol: symbols[index % symbols.length]! } as const)
      : ({ kind: "collection", assetClass: "equity", collection: "stocks", symbols } as const)
  const read = async () => {
    while (!state.isOver) {
      try {
        for await (const frame of iterate({ baseUrl }, target)) {
          frames.push(frame)
          if (state.isOver) return
        }
      } catch {
        // The registry reaches the other worker in a moment; until then it refuses.
        await wait(100)
      }
    }
  }
  const reading = read()
  return {
    frames,
    own: target.kind === "asset" ? [target.symbol] : symbols,
    events: () => frames.filter((frame) => frame.type === "event"),
    stop: () => {
      state.isOver = true
      return reading
    }
  }
}
