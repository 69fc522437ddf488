/** What the terminal shows. */
import { Console, Duration, Effect } from "effect"
import { AttestorProcess } from "#sandbox/attestor/AttestorProcess.ts"
import { solanaChainId } from "#domain/Caip.ts"
import { ApiProcess } from "#sandbox/process/ApiProcess.ts"
import { StreamProcess } from "#sandbox/process/StreamProcess.ts"
import { WorldSolana } from "#sandbox/solana/WorldSolana.ts"
import { Tenants } from "#sandbox/control/Tenants.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const labelWidth = 13

const line = (label: string, text: string) => Console.log(`  ${label.padEnd(labelWidth)}${text}`)

/** Runs a step of the start and says how long it took. */
export const step = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.timed(effect).pipe(
    Effect.tap(([took]) => Console.log(`  ${what} (${(Duration.toMillis(took) / 1000).toFixed(1)} s)`)),
    Effect.map(([, result]) => result)
  )

/** Prints where everything is. The keys are this world's only, and good for nothing elsewhere. */
export const printWorld = Effect.gen(function* () {
  const config = yield* WorldConfig
  const chains = yield* WorldChains
  const { environment, logFile } = yield* ApiProcess
  const stream = yield* StreamProcess
  const tenants = yield* (yield* Tenants).list
  yield* Console.log("\nBallast sandbox is ready.\n")
  yield* line("API", config.apiBaseUrl)
  yield* line("Docs", `${config.apiBaseUrl}/v2/docs`)
  yield* line("Stream", config.streamBaseUrl)
  yield* line("Control", config.controlBaseUrl)
  for (const chain of chains.all) yield* line(`Chain ${chain.chainId}`, chain.rpcUrl)
  yield* line("Solana", `${config.controlBaseUrl}/rpc/${solanaChainId} (Swig ${(yield* WorldSolana).swig})`)
  for (const tenant of tenants) {
    yield* line(tenant.name, `x-api-key: ${tenant.apiKey}`)
    yield* line("", `x-api-key: ${tenant.readOnlyApiKey} (read only)`)
  }
  yield* line("Admin", `Authorization: Bearer ${environment["ADMIN_TOKEN"]}`)
  yield* line("Data", config.dataDir)
  yield* line("API log", logFile)
  yield* line("Stream log", stream.logFile)
  yield* line("Attestor log", (yield* AttestorProcess).logFile)
  yield* Console.log("\nCtrl-C stops the sandbox and keeps its state. npm start -- --reset begins a new one.\n")
})
