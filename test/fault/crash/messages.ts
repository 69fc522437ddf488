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

/** Sends a message of the nth service of the process. */
export const reporterOf =
  (service: number) =>
  (message: Message): void => {
    let left = Buffer.from(`${prefix}${JSON.stringify([service, message])}\n`)
    while (left.length > 0) left = left.subarray(writeSync(1, left))
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
