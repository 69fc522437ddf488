/** The file that takes a child's output. It is set aside at 10 MB when the child starts, so two files are the most. */
import { Effect } from "effect"
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

const limitBytes = 10_000_000
const tailLines = 20

/** Opens the log for appending; answers a file descriptor. */
export const openLog = (path: string): Effect.Effect<number, SandboxFailure> =>
  Effect.try({
    try: () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) renameSync(path, `${path}.1`)
      return openSync(path, "a", 0o600)
    },
    catch: (cause) => new SandboxFailure({ message: `Could not open the log ${path}`, cause })
  })

export const closeLog = (descriptor: number): Effect.Effect<void> => Effect.sync(() => closeSync(descriptor))

/** The last lines of a log, for a message about what went wrong. */
export const logTail = (path: string): string =>
  readFileSync(path, "utf8").trimEnd().split("\n").slice(-tailLines).join("\n")
