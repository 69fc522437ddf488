/** Node programs that live as long as a scope and talk to this process over Node's IPC channel. */
import { Effect, Schema, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { setTimeout as wait } from "node:timers/promises"

const answerTimeoutMillis = 60_000
const graceMillis = 5_000

/** A program that could not be started, ended early, or did not answer. */
export class ProcessFailed extends Schema.TaggedError<ProcessFailed>()("ProcessFailed", { message: Schema.String }) {}

export interface OwnedProcess {
  readonly name: string
  readonly pid: number
  readonly isRunning: () => boolean
  /** Sends a message and gives the next one that comes back. One at a time. */
  readonly ask: (message: object) => Effect.Effect<unknown, ProcessFailed>
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const stop = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGTERM")
  const cancel = new AbortController()
  const grace = wait(graceMillis, undefined, { signal: cancel.signal }).then(
    () => child.kill("SIGKILL"),
    () => undefined
  )
  await ended
  cancel.abort()
  await grace
}

const ask = (name: string, child: ChildProcess, message: object) =>
  Effect.callback<unknown, ProcessFailed>((resume) => {
    const settle = (result: Effect.Effect<unknown, ProcessFailed>) => {
      clearTimeout(timer)
      child.off("message", onMessage).off("exit", onExit)
      resume(result)
    }
    const onMessage = (answer: unknown) => settle(Effect.succeed(answer))
    const onExit = (code: number | null) =>
      settle(Effect.fail(new ProcessFailed({ message: `${name} ended with ${code} before it answered` })))
    const timer = setTimeout(
      () =>
        settle(
          Effect.fail(new ProcessFailed({ message: `${name} did not answer in ${answerTimeoutMillis / 1000} s` }))
        ),
      answerTimeoutMillis
    )
    child.once("message", onMessage).once("exit", onExit)
    if (hasEnded(child)) onExit(child.exitCode)
    else child.send(message, (error) => (error === null ? undefined : onExit(child.exitCode)))
  })

/** Starts a program of this repository with no more of the environment than it is given. */
export const startProcess = (
  name: string,
  program: URL,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<OwnedProcess, ProcessFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => fork(program, [], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] })),
    (child) => Effect.promise(() => stop(child))
  ).pipe(
    Effect.flatMap((child) =>
      child.pid === undefined
        ? Effect.fail(new ProcessFailed({ message: `${name} could not be started from ${program.pathname}` }))
        : Effect.succeed({
            name,
            pid: child.pid,
            isRunning: () => !hasEnded(child),
            ask: (message: object) => ask(name, child, message)
          })
    )
  )
