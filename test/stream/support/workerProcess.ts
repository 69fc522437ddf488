/** The stream worker as a process of its own (`src/StreamWorker.ts`), and everything that it printed. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { internalTokenHeader } from "#domain/stream/InternalToken.ts"
import { freePort } from "#sandbox/process/freePort.ts"

export const internalToken = "internal-token-of-the-worker-tests"

export interface WorkerProcess {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  readonly log: () => string
  readonly isAlive: () => boolean
  readonly register: (assets: ReadonlyArray<unknown>) => Promise<void>
  readonly internalGet: (path: string) => Promise<any>
  /** Ends it in order, and answers when it has ended. */
  readonly stop: () => Promise<void>
}

/** Starts a worker on a port of its own and waits until it is ready. */
export const startWorkerProcess = async (environment: Record<string, string>): Promise<WorkerProcess> => {
  const port = await Effect.runPromise(freePort)
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../../src/StreamWorker.ts")], {
    env: {
      ...process.env,
      STREAM_PORT: `${port}`,
      STREAM_TICKET_KEYS: "test:0123456789abcdef0123456789abcdef",
      STREAM_TICKETS_PER_MINUTE: "10000",
      INTERNAL_TOKEN: internalToken,
      ...environment
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let log = ""
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk: Buffer) => (log += chunk.toString()))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  const url = `http://127.0.0.1:${port}`
  const status = () =>
    fetch(`${url}/health/ready`).then(
      async (response) => {
        await response.body?.cancel()
        return response.status
      },
      () => 0
    )
  while ((await status()) !== 200) {
    if (!isAlive()) throw new Error(`The worker ended:\n${log}`)
    await wait(100)
  }
  const headers = { "content-type": "application/json", [internalTokenHeader]: internalToken }
  return {
    url,
    port,
    child,
    log: () => log,
    isAlive,
    register: async (assets) => {
      const path = "/internal/public-registry/assets/upsert"
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify({ assets }) })
      if (response.status !== 200) throw new Error(`The worker took no assets: ${await response.text()}`)
      await response.body?.cancel()
    },
    internalGet: async (path) => (await fetch(`${url}${path}`, { headers })).json(),
    stop: async () => {
      if (!isAlive()) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    }
  }
}
