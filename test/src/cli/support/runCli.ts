/** The command line as a process of its own, as an operator starts it. */
import { execFile } from "node:child_process"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { patienceMillis } from "#test/support/suite/patience.ts"

const program = fileURLToPath(new URL("../../../../src/Cli.ts", import.meta.url))

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs one command with exactly these variables, in a folder that is not the repository's. */
export const runCli = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  folder: string
): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const { PATH = "", HOME = "" } = process.env
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd: folder, env: { PATH, HOME, ...environment }, timeout: patienceMillis, maxBuffer: 4 * 1024 * 1024 },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1
        resume(Effect.succeed({ code, out, err }))
      }
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
