import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { join } from "node:path"
import { attestorKey } from "#sandbox/chain/attestorKey.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { supervise } from "#sandbox/process/SupervisedProcess.ts"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** The price attestor as a child process with a key of its own: started, watched, restarted. */
export class AttestorProcess extends Context.Service<
  AttestorProcess,
  {
    readonly baseUrl: string
    readonly logFile: string
    readonly start: Effect.Effect<void, SandboxFailure, Scope.Scope>
    /** SIGKILLs the process and answers when its successor is ready. */
    readonly killAndRestart: Effect.Effect<void, SandboxFailure>
  }
>()("ballast/sandbox/attestor/AttestorProcess") {
  static readonly layer = Layer.effect(
    AttestorProcess,
    Effect.gen(function* () {
      const config = yield* WorldConfig
      const { secrets } = yield* (yield* WorldFile).state
      const chains = yield* WorldChains
      // Only the world's own proxy calls it, so any port will do.
      const port = yield* freePort
      const baseUrl = `http://127.0.0.1:${port}`
      const perChain = chains.all.flatMap((chain): ReadonlyArray<readonly [string, string]> => [
        [`RPC_URL_${chain.chainId}`, `${config.controlBaseUrl}/rpc/${chain.chainId}`],
        [`TRADE_GUARD_${chain.chainId}`, chain.contracts.guard]
      ])
      const environment: Readonly<Record<string, string | undefined>> = {
        ...config.environment,
        ...Object.fromEntries(perChain),
        ATTESTOR_PORT: `${port}`,
        ATTESTOR_TOKEN: derivedSecret(secrets.internalToken)("attestor token"),
        ATTESTOR_PRIVATE_KEY: config.environment["ATTESTOR_PRIVATE_KEY"] ?? attestorKey(secrets.internalToken),
        COINGECKO_URL: `${config.controlBaseUrl}/coingecko/api/v3`,
        COINGECKO_API_KEY: Redacted.value(secrets.coingeckoApiKey),
        LIFI_URL: `${config.controlBaseUrl}/lifi/v1`,
        CLOCK_URL: `${config.controlBaseUrl}/clock`
      }
      const logFile = join(config.dataDir, "logs", "attestor.log")
      const { restart, start } = yield* supervise({
        name: "The price attestor",
        key: "attestor",
        program: config.attestorProgram,
        readyUrl: `${baseUrl}/health/ready`,
        logFile,
        environment
      })
      return AttestorProcess.of({ baseUrl, logFile, start, killAndRestart: restart("SIGKILL") })
    })
  )
}
