/**
 * A whole world for end-to-end tests: `src/Sandbox.ts` as a process of its own on free ports and in a temporary folder,
 * spoken to over HTTP as a new user would.
 */
import { spawn } from "node:child_process"
import { Duration, Effect } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { freePort } from "#sandbox/process/freePort.ts"
import { patience, patienceMillis } from "#test/support/suite/patience.ts"

export interface WorldAsset {
  readonly assetId: string
  readonly symbol: string
  readonly decimals: number
  readonly priceUsd: string
}

export interface WorldOverview {
  readonly apiBaseUrl: string
  readonly adminToken: string
  readonly now: number
  readonly tenants: ReadonlyArray<{ readonly name: string; readonly apiKey: string; readonly readOnlyApiKey: string }>
  readonly chains: ReadonlyArray<{
    readonly chainId: number
    readonly rpcUrl: string
    readonly assets: ReadonlyArray<WorldAsset>
  }>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers

  readonly body: any
}

/**
 * Each on a connection of its own: on a machine that stands still for seconds, the other side may close one that was
 * kept just when it is used again.
 */
const call = async (url: string, init: RequestInit): Promise<Answer> => {
  const response = await fetch(url, { ...init, headers: { ...init.headers, connection: "close" } })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") ?? false
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

const withBody = (body: unknown): RequestInit =>
  body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

export interface World {
  readonly overview: WorldOverview
  /** The control API of the sandbox. */
  readonly controlUrl: string
  /** Full key of the first tenant. */
  readonly key: string
  readonly api: Call
  /** Calls the API with further headers. */
  readonly apiWith: (headers: Record<string, string>) => Call
  readonly control: (path: string, body: unknown) => Promise<Answer>
  readonly asset: (chainId: number, symbol: string) => WorldAsset
  /** Everything that the service logged so far. */
  readonly serviceLog: () => string
  /** Ends the process as Ctrl-C would, and answers its exit code; the folder stays. */
  readonly stop: () => Promise<number | null>
}

/** How often a world is started again because another test had taken one of its ports meanwhile. */
const maxPortsLost = 3

/** Starts a world and waits until it says that it is ready. */
export const startWorld = async (dataDir: string, environment: Record<string, string> = {}): Promise<World> => {
  for (let lost = 1; ; lost += 1) {
    try {
      return await startOnFreePorts(dataDir, environment)
    } catch (error) {
      const isPortLost = /cannot (listen on|be used)/u.test(String(error))
      if (!isPortLost || lost === maxPortsLost) throw error
    }
  }
}

const startOnFreePorts = async (dataDir: string, environment: Record<string, string>): Promise<World> => {
  const [api, stream, control] = await Effect.runPromise(Effect.all([freePort, freePort, freePort]))
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/Sandbox.ts")], {
    env: {
      ...process.env,
      ...environment,
      PORT: `${api}`,
      STREAM_PORT: `${stream}`,
      SANDBOX_PORT: `${control}`,
      DATA_DIR: dataDir
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const exited = once(child, "exit").then(([code]) => code as number | null)
  const controlUrl = `http://127.0.0.1:${control}`

  const overviewWhenReady = async (): Promise<WorldOverview> => {
    for (let waited = 0; waited < patienceMillis; waited += 100) {
      if (child.exitCode !== null) throw new Error(`The world ended at start:\n${output}`)
      const answer = await call(controlUrl, {}).catch(() => undefined)
      // The world makes its tenants after it answers; a test may need the second one.
      const ready = answer?.status === 200 && answer.body.tenants.length > 1 && output.includes("is ready")
      if (ready && (await call(`${answer.body.apiBaseUrl}/health/ready`, {}).catch(() => undefined))?.status === 200)
        return answer.body
      await delay(100)
    }
    child.kill("SIGTERM")
    await exited
    throw new Error(`The world was not ready after four minutes:\n${output}`)
  }

  const overview = await overviewWhenReady()
  const key = overview.tenants[0]!.apiKey
  const apiWith: World["apiWith"] = (headers) => (method, path, body) => {
    const init = withBody(body)
    return call(`${overview.apiBaseUrl}${path}`, {
      ...init,
      method,
      headers: { "x-api-key": key, ...init.headers, ...headers } as Record<string, string>
    })
  }
  return {
    overview,
    controlUrl,
    key,
    api: apiWith({}),
    apiWith,
    control: (path, body) => call(`${controlUrl}${path}`, { method: "POST", ...withBody(body) }),
    asset: (chainId, symbol) => {
      const found = overview.chains
        .find((chain) => chain.chainId === chainId)
        ?.assets.find((asset) => asset.symbol === symbol)
      if (found === undefined) throw new Error(`This world has no ${symbol} on chain ${chainId}`)
      return found
    },
    serviceLog: () => readFileSync(join(dataDir, "logs", "api.log"), "utf8"),
    stop: async () => {
      child.kill("SIGTERM")
      return exited
    }
  }
}

/** A folder for a world's state and the function that removes it. */
export const worldFolder = async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "ballast-world-"))
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Asks again until the answer is there; when it is not in time, fails with what was asked for and how things stand. */
export const eventually = async <A>(
  what: string,
  ask: () => Promise<A | undefined>,
  standing?: () => Promise<unknown>
): Promise<A> => {
  for (let waited = 0; waited < patienceMillis; waited += 200) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await delay(200)
  }
  const stands = standing === undefined ? "" : `; it stands at ${JSON.stringify(await standing())}`
  throw new Error(`Not within ${Duration.format(patience)}: ${what}${stands}`)
}
