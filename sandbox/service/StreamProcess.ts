import { Context, Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { join } from "node:path"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"
import { supervise } from "#sandbox/process/SupervisedProcess.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** Long enough for a client's timeout, and for another worker to take over. */
const stallLength = Duration.seconds(3)

/** The stream worker as a child process: started, watched, restarted. */
export class StreamProcess extends Context.Service<
  StreamProcess,
  {
    /** The key of the stand-in for Massive. */
    readonly massiveKey: string
    readonly logFile: string
    readonly start: Effect.Effect<void, SandboxFailure, Scope.Scope>
    /** SIGKILLs the process and answers when its successor is ready. */
    readonly killAndRestart: Effect.Effect<void, SandboxFailure>
    /** Ends the process in order, which closes all sockets, and answers when its successor is ready. */
    readonly cut: Effect.Effect<void, SandboxFailure>
    /** Stops the process for three seconds. */
    readonly stall: Effect.Effect<void>
  }
>()("ballast/sandbox/service/StreamProcess") {
  static readonly layer = Layer.effect(
    StreamProcess,
    Effect.gen(function* () {
      const config = yield* WorldConfig
      const { secrets } = yield* (yield* WorldFile).state
      const derived = derivedSecret(secrets.internalToken)
      const environment: Readonly<Record<string, string | undefined>> = {
        STREAM_TICKET_KEYS: `world:${derived("tickets")}`,
        STREAM_PUBLIC_URL: config.streamBaseUrl,
        STREAM_ALLOWED_ORIGINS: "*",
        STREAM_TICKETS_PER_MINUTE: "10000",
        STREAM_QUOTE_INTERVAL_MS: "1000",
        INTERNAL_TOKEN: Redacted.value(secrets.internalToken),
        MASSIVE_URL: `${config.controlBaseUrl.replace(/^http/u, "ws")}/massive/stocks`,
        MASSIVE_API_KEY: derived("massive"),
        COINGECKO_URL: `${config.controlBaseUrl}/coingecko/api/v3`,
        COINGECKO_API_KEY: Redacted.value(secrets.coingeckoApiKey),
        CLOCK_URL: `${config.controlBaseUrl}/clock`,
        ...config.environment,
        STREAM_PORT: `${config.streamPort}`
      }
      const logFile = join(config.dataDir, "logs", "stream.log")
      const { restart, stall, start } = yield* supervise({
        name: "The stream worker",
        key: "stream",
        program: config.streamProgram,
        readyUrl: `${config.streamBaseUrl}/health/ready`,
        logFile,
        environment
      })
      return StreamProcess.of({
        massiveKey: environment["MASSIVE_API_KEY"] ?? "",
        logFile,
        start,
        killAndRestart: restart("SIGKILL"),
        cut: restart("SIGTERM"),
        stall: stall(stallLength)
      })
    })
  )
}
