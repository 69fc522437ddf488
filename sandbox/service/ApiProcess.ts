import { Context, Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { serviceEnvironment } from "#sandbox/service/serviceEnvironment.ts"
import { supervise } from "#sandbox/process/SupervisedProcess.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

/** The size of the young generation, as wherever the API is started (docs/decisions/0253-young-generation.md). */
const nodeFlags = ["--max-semi-space-size=64"]

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
>()("ballast/sandbox/service/ApiProcess") {
  static readonly layer = Layer.effect(
    ApiProcess,
    Effect.gen(function* () {
      const config = yield* WorldConfig
      const environment = yield* serviceEnvironment
      const logFile = join(config.dataDir, "logs", "api.log")
      const { restart, start } = yield* supervise({
        name: "The API",
        key: "api",
        program: config.apiProgram,
        nodeFlags,
        readyUrl: `${config.apiBaseUrl}/health/ready`,
        logFile,
        environment
      })
      return ApiProcess.of({ environment, logFile, start, killAndRestart: restart("SIGKILL") })
    })
  )
}
