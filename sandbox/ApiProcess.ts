import { Clock, Context, Deferred, Duration, Effect, Layer, type Scope, Semaphore } from "effect"
import { join } from "node:path"
import { closeLog, logTail, openLog } from "#sandbox/processLog.ts"
import { type OwnedProcess, startProcess } from "#sandbox/ownedProcess.ts"
import { ProcessRegistry } from "#sandbox/ProcessRegistry.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { serviceEnvironment } from "#sandbox/serviceEnvironment.ts"
import { untilReady } from "#sandbox/untilReady.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const graceMillis = 5_000
const firstPause = Duration.millis(250)
const longestPause = Duration.seconds(10)
/** A process that lived this long was well; the next pause is short again. */
const healthyLife = Duration.seconds(30)

/** One process of the API, from its start to its end. */
interface Life {
  readonly process: OwnedProcess
  readonly ready: Deferred.Deferred<void, SandboxFailure>
  readonly successor: Deferred.Deferred<Life, SandboxFailure>
  endIsWanted: boolean
}

/** The service's API as a child process: started, watched, restarted. */
export class ApiProcess extends Context.Service<
  ApiProcess,
  {
    /** What the process is started with: the world's variables, and above them those the world was started with. */
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly logFile: string
    /** Starts the process and answers when it is ready. It is restarted whenever it ends, until the scope closes. */
    readonly start: Effect.Effect<void, SandboxFailure, Scope.Scope>
    /** SIGKILLs the process and answers when its successor is ready. */
    readonly killAndRestart: Effect.Effect<void, SandboxFailure>
  }
>()("ballast/sandbox/ApiProcess") {
  static readonly layer = Layer.effect(
    ApiProcess,
    Effect.gen(function* () {
      const config = yield* WorldConfig
      const registry = yield* ProcessRegistry
      const environment = yield* serviceEnvironment
      const logFile = join(config.dataDir, "logs", "api.log")
      const killing = yield* Semaphore.make(1)
      let current: Life | undefined

      const launch = Effect.gen(function* () {
        const log = yield* Effect.acquireRelease(openLog(logFile), closeLog)
        const process = yield* startProcess({
          name: "The API",
          file: globalThis.process.execPath,
          args: [config.apiProgram],
          stdio: ["ignore", log, log],
          env: environment,
          graceMillis,
          remedy: "Run npm install and start again"
        })
        yield* registry.record("api", process.pid)
        const life: Life = {
          process,
          ready: yield* Deferred.make<void, SandboxFailure>(),
          successor: yield* Deferred.make<Life, SandboxFailure>(),
          endIsWanted: false
        }
        yield* untilReady(`${config.apiBaseUrl}/health/ready`, process).pipe(
          Effect.mapError(
            (failure) =>
              new SandboxFailure({
                message: `The API is not ready: ${failure.message}. The end of ${logFile}:\n${logTail(logFile)}`
              })
          ),
          (whenReady) => Deferred.complete(life.ready, whenReady),
          Effect.forkScoped
        )
        return life
      })

      const supervise = Effect.fnUntraced(function* (first: Deferred.Deferred<Life, SandboxFailure>) {
        let slot = first
        let pause = firstPause
        const live = Effect.gen(function* () {
          const life = yield* launch
          current = life
          yield* Deferred.succeed(slot, life)
          slot = life.successor
          const how = yield* Effect.promise(() => life.process.ended)
          // Those who wait for readiness learn of the end before the wait is taken down with this scope.
          yield* Effect.exit(Deferred.await(life.ready))
          return { life, how }
        }).pipe(
          Effect.scoped,
          Effect.onError((cause) => Effect.suspend(() => Deferred.failCause(slot, cause)))
        )
        while (true) {
          const startedAt = yield* Clock.currentTimeMillis
          const { life, how } = yield* live
          if (life.endIsWanted) continue
          const age = (yield* Clock.currentTimeMillis) - startedAt
          if (age > Duration.toMillis(healthyLife)) pause = firstPause
          yield* Effect.logWarning(
            `The API ended (${how}) and starts again in ${Duration.format(pause)}. Its log: ${logFile}`
          )
          yield* Effect.sleep(pause)
          pause = Duration.min(Duration.times(pause, 2), longestPause)
        }
      })

      return ApiProcess.of({
        environment,
        logFile,
        start: Effect.gen(function* () {
          const first = yield* Deferred.make<Life, SandboxFailure>()
          yield* Effect.forkScoped(supervise(first))
          const life = yield* Deferred.await(first)
          yield* Deferred.await(life.ready)
        }),
        killAndRestart: Semaphore.withPermit(
          killing,
          Effect.suspend(() => {
            const life = current
            if (life === undefined)
              return Effect.fail(new SandboxFailure({ message: "The API has not been started yet" }))
            life.endIsWanted = true
            life.process.kill("SIGKILL")
            return Deferred.await(life.successor).pipe(Effect.flatMap((next) => Deferred.await(next.ready)))
          })
        )
      })
    })
  )
}
