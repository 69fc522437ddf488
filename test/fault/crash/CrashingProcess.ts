/** Starts a crashing service and waits until it has ended, by its own hand or in order. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { ServiceConfig } from "#test/fault/crash/CrashingService.ts"
import { type Message, messagesIn } from "#test/fault/crash/messages.ts"

export interface Ended {
  readonly messages: ReadonlyArray<Message>
  /** By SIGKILL. Nobody else sends one, so it was its own. */
  readonly isKilled: boolean
}

const program = join(import.meta.dirname, "CrashingService.ts")

/** A service that neither ends nor dies in this time hangs. */
const patienceMs = 120_000

export const runService = async (config: ServiceConfig, cacheDir: string): Promise<Ended> => {
  const child = spawn(process.execPath, ["--no-warnings", program], {
    env: { ...process.env, CRASHING_SERVICE: JSON.stringify(config), NODE_COMPILE_CACHE: cacheDir },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill("SIGKILL")
  }, patienceMs)
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  if (isLate || (code !== 0 && signal !== "SIGKILL")) {
    const how = isLate ? `did not end in ${patienceMs / 1000} s` : `ended with ${code ?? signal}`
    throw new Error(`The service ${how}. Its tasks: ${JSON.stringify(config.tasks)}\n${output.slice(-20_000)}`)
  }
  return { messages: messagesIn(output), isKilled: signal === "SIGKILL" }
}
