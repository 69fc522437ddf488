import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { freePort } from "#sandbox/process/freePort.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const root = join(import.meta.dirname, "..", "..")

/** Ports and folder of a world under test. */
export interface WorldInstance {
  readonly dataDir: string
  readonly api: number
  readonly stream: number
  readonly control: number
}

/** An answer of the control server. The test says what it expects; assertions check what came. */
export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** A running world: the supervisor's process and calls to its control server. */
export interface TestWorld {
  readonly instance: WorldInstance
  readonly supervisor: ChildProcess
  readonly output: () => string
  /** Resolves to exit code or signal. */
  readonly ended: Promise<number | string>
  readonly get: <Body = unknown>(path: string, headers?: Record<string, string>) => Promise<Answer<Body>>
  readonly post: <Body = unknown>(path: string, body: unknown) => Promise<Answer<Body>>
}

export const newInstance = async (dataDir: string): Promise<WorldInstance> => {
  const [api, stream, control] = await Effect.runPromise(Effect.all([freePort, freePort, freePort]))
  return { dataDir, api, stream, control }
}

/** Starts `src/Sandbox.ts` around the stand-in API; resolves when the world says that it is ready, or has ended. */
export const startWorld = async (
  instance: WorldInstance,
  args: ReadonlyArray<string> = [],
  env: Record<string, string> = {}
): Promise<TestWorld> => {
  const supervisor = spawn(process.execPath, [join(root, "src", "Sandbox.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      API_PROGRAM: join(import.meta.dirname, "standInApi.ts"),
      ...env,
      PORT: `${instance.api}`,
      STREAM_PORT: `${instance.stream}`,
      SANDBOX_PORT: `${instance.control}`,
      DATA_DIR: instance.dataDir
    }
  })
  let text = ""
  supervisor.stdout.on("data", (chunk) => (text += chunk))
  supervisor.stderr.on("data", (chunk) => (text += chunk))
  const ended = new Promise<number | string>((resolve) =>
    supervisor.once("exit", (code, signal) => resolve(code ?? signal ?? ""))
  )
  const base = `http://127.0.0.1:${instance.control}`
  const call = async <Body>(path: string, init: RequestInit): Promise<Answer<Body>> => {
    // A connection that is kept may be closed by the other side just when it is used again.
    const response = await fetch(`${base}${path}`, { ...init, headers: { ...init.headers, connection: "close" } })
    const answer = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(answer) as Body }
  }
  for (let waited = 0; waited < patienceMillis && !text.includes("is ready"); waited += 50) {
    if (supervisor.exitCode !== null || supervisor.signalCode !== null) break
    await wait(50)
  }
  return {
    instance,
    supervisor,
    ended,
    output: () => text,
    get: <Body>(path: string, headers: Record<string, string> = {}) => call<Body>(path, { headers }),
    post: <Body>(path: string, body: unknown) =>
      call<Body>(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  }
}
