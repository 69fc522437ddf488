/** What the terminal shows. */
import { Clock, Console, Duration, Effect, Fiber } from "effect"
import { AttestorProcess } from "#sandbox/attestor/AttestorProcess.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { WorldSolana } from "#sandbox/solana/WorldSolana.ts"
import { Tenants } from "#sandbox/control/Tenants.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const labelWidth = 13

const line = (label: string, text: string) => Console.log(`  ${label.padEnd(labelWidth)}${text}`)

/** Time after which a step that is not done says that it goes on. */
const signOfLife = Duration.seconds(10)

/** Runs a step of the start and says how long it took. Every ten seconds until then it says that it is still at it. */
export const step = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const elapsed = Effect.map(Clock.currentTimeMillis, (now) => `${((now - startedAt) / 1000).toFixed(1)} s`)
    const still = Effect.flatMap(elapsed, (time) => Console.log(`  Not yet, after ${time}: ${what}`))
    const waiting = yield* Effect.forkChild(Effect.forever(Effect.delay(still, signOfLife)))
    const result = yield* Effect.ensuring(effect, Fiber.interrupt(waiting))
    yield* Console.log(`  ${what} (${yield* elapsed})`)
    return result
  })

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
