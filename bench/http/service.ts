/** The service itself, as a deployment starts it, but for limits that would bite and chains that do not answer. */
import { Effect } from "effect"
import { setTimeout as wait } from "node:timers/promises"
import { poolSize } from "#bench/http/benchDatabase.ts"
import { type OwnedProcess, ProcessFailed, startProcess } from "#bench/http/ownedProcess.ts"
import type { Server } from "#bench/http/Server.ts"
import { freePort } from "#sandbox/process/freePort.ts"

const readyTimeoutMillis = 60_000
const probeMillis = 100
const highestLimit = "10000000"
const nowhere = "http://127.0.0.1:9"

const environment = (database: string, pepper: string, port: number): Readonly<Record<string, string>> => ({
  PORT: `${port}`,
  DATABASE_URL: database,
  DATABASE_POOL: `${poolSize}`,
  API_KEY_PEPPER: pepper,
  AGENT_PRIVATE_KEY: `0x${"11".repeat(32)}`,
  RELAYER_PRIVATE_KEY: `0x${"22".repeat(32)}`,
  ADMIN_TOKEN: "a".repeat(32),
  INTERNAL_TOKEN: "b".repeat(32),
  RPC_URL_8453: nowhere,
  UNISWAP_V2_ROUTER_8453: `0x${"33".repeat(20)}`,
  RPC_URL_42161: nowhere,
  UNISWAP_V2_ROUTER_42161: `0x${"33".repeat(20)}`,
  RATE_LIMIT_GLOBAL: highestLimit,
  RATE_LIMIT_CRITICAL: highestLimit,
  RATE_LIMIT_GENERAL: highestLimit,
  RATE_LIMIT_BURST: highestLimit,
  LOG_LEVEL: "Warn"
})

/** Chains and prices that answer, from bench/peers/upstream.ts. */
export const upstreamSettings = (upstream: string): Readonly<Record<string, string>> => ({
  RPC_URL_8453: `${upstream}/8453`,
  RPC_URL_42161: `${upstream}/42161`,
  COINGECKO_URL: upstream
})

const answers = async (url: string): Promise<boolean> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.status === 200
}

/** Waits in real time until the process answers, and fails when it ends before that. */
const untilReady = (url: string, process: OwnedProcess) =>
  Effect.tryPromise({
    try: async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(readyTimeoutMillis)])
      while (!(await answers(url))) {
        if (!process.isRunning()) throw new Error("it ended")
        limit.throwIfAborted()
        await wait(probeMillis)
      }
    },
    catch: (cause) => new ProcessFailed({ message: `${process.name} never answered 200 on ${url}: ${String(cause)}` })
  })

/** `more` is added to the service's environment. */
export const startService = Effect.fnUntraced(function* (
  database: string,
  pepper: string,
  more: Readonly<Record<string, string>> = {}
) {
  const port = yield* freePort
  const program = new URL("../../src/Api.ts", import.meta.url)
  const process = yield* startProcess("Ballast", program, { ...environment(database, pepper, port), ...more })
  const baseUrl = `http://127.0.0.1:${port}`
  yield* untilReady(`${baseUrl}/health/ready`, process)
  return { name: process.name, pid: process.pid, baseUrl } satisfies Server
})
