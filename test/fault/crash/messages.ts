/** Messages of crashing services to their parent: a line of JSON each, written at once to outlive the writer. */
import { writeSync } from "node:fs"
import type { FinalState } from "#test/fault/crash/finalState.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"

export type Message =
  | { readonly _tag: "Begun"; readonly begun: Begun }
  | { readonly _tag: "Passed"; readonly boundary: string }
  /** Report at the last boundary; the process dies there. */
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Ended"; readonly state: FinalState }

const prefix = "@crash "

/** Milliseconds between two tries to write while the parent has not read what the pipe holds. */
const pipeFullPause = 1
const pause = new Int32Array(new SharedArrayBuffer(4))

/** Writes what the pipe takes; nothing while it is full, which a busy parent may leave it for long. */
const writeSome = (bytes: Uint8Array): number => {
  try {
    return writeSync(1, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
    Atomics.wait(pause, 0, 0, pipeFullPause)
    return 0
  }
}

/** Sends a message of the nth service of the process. */
export const reporterOf =
  (service: number) =>
  (message: Message): void => {
    let left = Buffer.from(`${prefix}${JSON.stringify([service, message])}\n`)
    while (left.length > 0) left = left.subarray(writeSome(left))
  }

/** The messages of each service in a process's whole output; what else it wrote is left out. */
export const messagesIn = (output: string, services: number): ReadonlyArray<ReadonlyArray<Message>> => {
  const messages = Array.from({ length: services }, (): Array<Message> => [])
  for (const line of output.split("\n")) {
    if (!line.startsWith(prefix)) continue
    const [service, message] = JSON.parse(line.slice(prefix.length)) as readonly [number, Message]
    messages[service]!.push(message)
  }
  return messages
}
