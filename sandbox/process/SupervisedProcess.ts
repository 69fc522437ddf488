/** A program of the service as a child process: started, watched, restarted. */
import { Clock, Deferred, Duration, Effect, type Scope, Semaphore } from "effect"
import { type OwnedProcess, startProcess } from "#sandbox/process/ownedProcess.ts"
import { ProcessRegistry } from "#sandbox/process/ProcessRegistry.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { untilReady } from "#sandbox/process/untilReady.ts"
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"

const limitBytes = 10_000_000
const tailLines = 20

/**
 * Opens the file that takes a child's output, for appending; answers its descriptor. A file of 10 MB is set aside when
 * the child starts, so two files are the most.
 */
const openLog = (path: string): Effect.Effect<number, SandboxFailure> =>
  Effect.try({
    try: () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) renameSync(path, `${path}.1`)
      return openSync(path, "a", 0o600)
    },
    catch: (cause) => new SandboxFailure({ message: `Could not open the log ${path}`, cause })
  })

const closeLog = (descriptor: number): Effect.Effect<void> => Effect.sync(() => closeSync(descriptor))

/** The last lines of a log, for a message about what went wrong. */
const logTail = (path: string): string => readFileSync(path, "utf8").trimEnd().split("\n").slice(-tailLines).join("\n")

const graceMillis = 5_000
const firstPause = Duration.millis(250)
const longestPause = Duration.seconds(10)
/** A process that lived this long was well; the next pause is short again. */
const healthyLife = Duration.seconds(30)

/** One process, from its start to its end. */
interface ProcessInstance {
  readonly process: OwnedProcess
  readonly ready: Deferred.Deferred<void, SandboxFailure>
  readonly successor: Deferred.Deferred<ProcessInstance, SandboxFailure>
  endRequested: boolean
}

export interface SupervisedProgram {
  /** Name in messages. */
  readonly name: string
  /** Key in the registry of processes. */
  readonly key: string
  readonly program: string
  /** Flags of Node, none when left out. */
  readonly nodeFlags?: ReadonlyArray<string>
  readonly readyUrl: string
  readonly logFile: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface SupervisedProcess {
  /** Starts the process and answers when it is ready. It is restarted whenever it ends, until the scope closes. */
  readonly start: Effect.Effect<void, SandboxFailure, Scope.Scope>
  /** Ends the process by a signal and answers when its successor is ready. */
  readonly restart: (signal: "SIGKILL" | "SIGTERM") => Effect.Effect<void, SandboxFailure>
  /** Stops the process in its tracks for a while, as a machine that is overloaded would. */
  readonly stall: (duration: Duration.Duration) => Effect.Effect<void>
}

export const supervise = Effect.fnUntraced(function* (options: SupervisedProgram) {
  const { environment, key, logFile, name, nodeFlags = [], program, readyUrl } = options
  const registry = yield* ProcessRegistry
  const ending = yield* Semaphore.make(1)
  let current: ProcessInstance | undefined

  const launch = Effect.gen(function* () {
    const log = yield* Effect.acquireRelease(openLog(logFile), closeLog)
    const process = yield* startProcess({
      name,
      file: globalThis.process.execPath,
      args: [...nodeFlags, program],
      stdio: ["ignore", log, log],
      env: environment,
      graceMillis,
      remedy: "Run npm install and start again"
    })
    yield* registry.record(key, process.pid)
    const instance: ProcessInstance = {
      process,
      ready: yield* Deferred.make<void, SandboxFailure>(),
      successor: yield* Deferred.make<ProcessInstance, SandboxFailure>(),
      endRequested: false
    }
    yield* untilReady(readyUrl, process).pipe(
      Effect.mapError(
        (failure) =>
          new SandboxFailure({
            message: `${name} is not ready: ${failure.message}. The end of ${logFile}:\n${logTail(logFile)}`
          })
      ),
      (whenReady) => Deferred.complete(instance.ready, whenReady),
      Effect.forkScoped
    )
    return instance
  })

  const watch = Effect.fnUntraced(function* (first: Deferred.Deferred<ProcessInstance, SandboxFailure>) {
    let slot = first
    let pause = firstPause
    const live = Effect.gen(function* () {
      const instance = yield* launch
      current = instance
      yield* Deferred.succeed(slot, instance)
      slot = instance.successor
      const how = yield* Effect.promise(() => instance.process.ended)
      // Those who wait for readiness learn of the end before the wait is taken down with this scope.
      yield* Effect.exit(Deferred.await(instance.ready))
      return { instance, how }
    }).pipe(
      Effect.scoped,
      Effect.onError((cause) => Effect.suspend(() => Deferred.failCause(slot, cause)))
    )
    while (true) {
      const startedAt = yield* Clock.currentTimeMillis
      const { instance, how } = yield* live
      if (instance.endRequested) continue
      const age = (yield* Clock.currentTimeMillis) - startedAt
      if (age > Duration.toMillis(healthyLife)) pause = firstPause
      yield* Effect.logWarning(
        `${name} ended (${how}) and starts again in ${Duration.format(pause)}. Its log: ${logFile}`
      )
      yield* Effect.sleep(pause)
      pause = Duration.min(Duration.times(pause, 2), longestPause)
    }
  })

  const supervised: SupervisedProcess = {
    start: Effect.gen(function* () {
      const first = yield* Deferred.make<ProcessInstance, SandboxFailure>()
      yield* Effect.forkScoped(watch(first))
      const instance = yield* Deferred.await(first)
      yield* Deferred.await(instance.ready)
    }),
    restart: (signal) =>
      Semaphore.withPermit(
        ending,
        Effect.suspend(() => {
          const instance = current
          if (instance === undefined)
            return Effect.fail(new SandboxFailure({ message: `${name} has not been started yet` }))
          instance.endRequested = true
          instance.process.kill(signal)
          return Deferred.await(instance.successor).pipe(Effect.flatMap((next) => Deferred.await(next.ready)))
        })
      ),
    stall: (duration) =>
      Effect.suspend(() => {
        const instance = current
        if (instance === undefined) return Effect.void
        return Effect.acquireUseRelease(
          Effect.sync(() => instance.process.kill("SIGSTOP")),
          () => Effect.sleep(duration),
          () => Effect.sync(() => instance.process.kill("SIGCONT"))
        )
      })
  }
  return supervised
})
