/**
 * Starts a local world and the service in it: `npm start`, and `npm start -- --reset` for a fresh one.
 *
 * A supervisor: chains, providers and the control API are its own, API, stream worker and price attestor are processes
 * of their own with ordinary environment variables. See docs/architecture.md, "The sandbox".
 */
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { AttestorProcess } from "#sandbox/attestor/AttestorProcess.ts"
import { BridgeWorker } from "#sandbox/chain/BridgeWorker.ts"
import { ControlServer } from "#sandbox/control/ControlServer.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { requirePort } from "#sandbox/process/freePort.ts"
import { killOwnedProcesses } from "#sandbox/process/ownedProcess.ts"
import { printWorld, step } from "#sandbox/control/printWorld.ts"
import { ProcessRegistry } from "#sandbox/process/ProcessRegistry.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { Tenants } from "#sandbox/control/Tenants.ts"
import { WorldSolana } from "#sandbox/solana/WorldSolana.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

const reset = process.argv.includes("--reset")

const ports = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* WorldConfig
    yield* requirePort(config.apiPort, "PORT")
    yield* requirePort(config.streamPort, "STREAM_PORT")
    yield* requirePort(config.controlPort, "SANDBOX_PORT")
  })
)

// The registry ends what an earlier world left on the ports, so ports are checked after it.
const ground = ports.pipe(Layer.provideMerge(ProcessRegistry.layer(reset)), Layer.provideMerge(WorldConfig.layer))

const world = Tenants.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(ApiProcess.layer, StreamProcess.layer, AttestorProcess.layer)),
  Layer.provideMerge(WorldSolana.layer),
  Layer.provideMerge(WorldChains.layer),
  Layer.provideMerge(Layer.mergeAll(WorldClock.layer, Faults.layer)),
  Layer.provideMerge(WorldFile.layer),
  Layer.provideMerge(ground),
  Layer.provide(Layer.mergeAll(SecureRandom.layerWebCrypto, FetchHttpClient.layer))
)

const live = Effect.gen(function* () {
  const api = yield* ApiProcess
  const stream = yield* StreamProcess
  const attestor = yield* AttestorProcess
  const tenants = yield* Tenants
  const chains = yield* WorldChains
  yield* step(
    "The API, the stream worker and the price attestor are up",
    Effect.all([api.start, stream.start, attestor.start], { concurrency: "unbounded", discard: true })
  )
  yield* step("Tenants and the public strategy are there", tenants.provision)
  yield* printWorld
  yield* chains.watch
}).pipe(Effect.scoped)

const describe = ({ message, cause }: SandboxFailure) =>
  cause instanceof Error ? `${message}\nBecause: ${cause.message}` : message

const program = Effect.gen(function* () {
  yield* Console.log(`Ballast sandbox${reset ? ", a new one" : ""}`)
  const services = yield* step("Chains are up", Layer.build(world))
  const server = yield* Layer.build(
    Layer.merge(ControlServer, BridgeWorker).pipe(Layer.provide(Layer.succeedContext(services)))
  )
  yield* live.pipe(Effect.provideContext(services), Effect.provideContext(server))
}).pipe(
  Effect.scoped,
  Effect.onInterrupt(() => Console.log("\nThe sandbox has stopped; its state is kept.")),
  Effect.catchCause((cause) => {
    const failure = Cause.squash(cause)
    if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
    const message = failure instanceof SandboxFailure ? describe(failure) : Cause.pretty(cause)
    return Console.error(`\nThe sandbox cannot go on. ${message}`).pipe(Effect.andThen(Effect.failCause(cause)))
  })
)

// The first signal ends the world in order; a second one does not wait for that.
let signals = 0
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    signals += 1
    if (signals < 2) return
    killOwnedProcesses()
    process.exit(130)
  })
}

NodeRuntime.runMain(program, { disableErrorReporting: true })
