/**
 * Child processes that live as long as a scope.
 *
 * Waits here are in real time (Node timers, not Effect's clock): an operating system process does not follow a test
 * clock.
 */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process"
import { setTimeout as wait } from "node:timers/promises"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A running child and the promise of its end. */
export interface OwnedProcess {
  readonly pid: number
  /** Resolves when the process is gone, to its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  readonly isRunning: () => boolean
  readonly kill: (signal: NodeJS.Signals) => void
}

/**
 * What to start. `stdio` is Node's; children never share the terminal's process group, so that Ctrl-C reaches only us.
 */
export interface Command {
  readonly name: string
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly stdio: StdioOptions
  readonly env?: Record<string, string | undefined>
  readonly cwd?: string
  /** How long the process may take after SIGTERM before it is killed. */
  readonly graceMillis: number
  /** What to do when the file cannot be started. */
  readonly remedy: string
}

const running = new Set<OwnedProcess>()

/** SIGKILLs every process that this program started and that still runs. For an exit that must not wait. */
export const killOwnedProcesses = (): void => {
  for (const process of running) process.kill("SIGKILL")
}

const own = (child: ChildProcess, pid: number): OwnedProcess => {
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("exit", (code, signal) => {
      running.delete(process)
      resolve(code ?? signal ?? 0)
    })
  })
  const process: OwnedProcess = {
    pid,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: (signal) => {
      child.kill(signal)
    }
  }
  running.add(process)
  return process
}

const start = (command: Command) =>
  Effect.callback<OwnedProcess, SandboxFailure>((resume) => {
    const child = spawn(command.file, command.args, {
      stdio: command.stdio,
      detached: true,
      ...(command.env === undefined ? {} : { env: command.env }),
      ...(command.cwd === undefined ? {} : { cwd: command.cwd })
    })
    child.once("error", (cause) =>
      resume(
        Effect.fail(
          new SandboxFailure({
            message: `${command.name} could not be started from ${command.file}. ${command.remedy}`,
            cause
          })
        )
      )
    )
    child.once("spawn", () => resume(Effect.succeed(own(child, child.pid!))))
  })

/** Ends a process: SIGTERM, then SIGKILL when its grace is over. */
export const stopProcess = (process: OwnedProcess, graceMillis: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (!process.isRunning()) return
    process.kill("SIGTERM")
    const cancel = new AbortController()
    const late = await Promise.race([
      process.ended.then(() => false),
      wait(graceMillis, true, { signal: cancel.signal }).catch(() => false)
    ])
    cancel.abort()
    if (!late) return
    process.kill("SIGKILL")
    await process.ended
  })

/** Starts a process that is ended when the scope closes. */
export const startProcess = (command: Command): Effect.Effect<OwnedProcess, SandboxFailure, Scope.Scope> =>
  Effect.acquireRelease(start(command), (process) => stopProcess(process, command.graceMillis))
