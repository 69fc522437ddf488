/** Starts a process of crashing services and waits until it has ended, by its own hand or in order. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { ServiceConfig } from "#test/fault/crash/CrashingService.ts"
import { type Message, messagesIn } from "#test/fault/crash/messages.ts"

const program = join(import.meta.dirname, "crashingProcess.ts")

/** A process that neither ends nor dies in this time hangs. */
const timeoutMs = 600_000

/** The messages of each service. The process ended in order or by SIGKILL, which nobody sends but itself. */
export const startServices = async (
  services: ReadonlyArray<ServiceConfig>,
  cacheDir: string
): Promise<ReadonlyArray<ReadonlyArray<Message>>> => {
  const child = spawn(process.execPath, ["--no-warnings", program], {
    env: { ...process.env, CRASHING_SERVICES: JSON.stringify(services), NODE_COMPILE_CACHE: cacheDir },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill("SIGKILL")
  }, timeoutMs)
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  const messages = messagesIn(output, services.length)
  const isDoomed = messages.some((own) => own.some(({ _tag }) => _tag === "Stopped"))
  if (!isLate && (isDoomed ? signal === "SIGKILL" : code === 0)) return messages
  const how = isLate ? `did not end in ${timeoutMs / 1000} s` : `ended with ${code ?? signal}`
  const tasks = services.map((service) => service.tasks)
  throw new Error(`The services ${how}. Their tasks: ${JSON.stringify(tasks)}\n${output.slice(-20_000)}`)
}
