/** What a crashing service tells its parent, a line of JSON each, written at once so that it outlives the writer. */
import { writeSync } from "node:fs"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import type { FinalState } from "#test/fault/crash/finalState.ts"

export type Message =
  | { readonly _tag: "Passed"; readonly boundary: string }
  | { readonly _tag: "Begun"; readonly begun: Begun }
  | { readonly _tag: "Ended"; readonly state: FinalState }

const mark = "@crash "

export const tell = (message: Message): void => {
  let left = Buffer.from(`${mark}${JSON.stringify(message)}\n`)
  while (left.length > 0) left = left.subarray(writeSync(1, left))
}

/** The messages of a process's whole output; what else it wrote is left out. */
export const messagesIn = (output: string): ReadonlyArray<Message> =>
  output.split("\n").flatMap((line) => (line.startsWith(mark) ? [JSON.parse(line.slice(mark.length)) as Message] : []))
