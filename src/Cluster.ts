/**
 * Several API processes on one PostgreSQL server, on this machine: `npm run cluster`. For trying it; a deployment
 * starts its processes with what it starts processes with (docs/operations.md, compose.yaml).
 *
 * Each process has the environment of this one and a port of its own, from PORT on. One that ends is started again;
 * Ctrl-C ends all, and they pass their work on.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import { clusterConfig } from "#src/Config.ts"

const program = fileURLToPath(new URL("Api.ts", import.meta.url))
const pause = Duration.seconds(1)
/** The size of the young generation, as wherever the API is started (docs/decisions/0253-young-generation.md). */
const nodeFlags = ["--max-semi-space-size=64"]

const live = Effect.fnUntraced(function* (port: number) {
  const api = yield* ChildProcess.make(process.execPath, [...nodeFlags, program], {
    env: { PORT: `${port}` },
    extendEnv: true,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    killSignal: "SIGTERM",
    forceKillAfter: Duration.seconds(10)
  })
  yield* Console.log(`API process ${api.pid} listens on port ${port}`)
  yield* Effect.exit(api.exitCode)
  yield* Console.log(`API process ${api.pid} ended; port ${port} starts again`)
}, Effect.scoped)

const cluster = Effect.gen(function* () {
  const { ports } = yield* clusterConfig
  yield* Effect.forEach(ports, (port) => Effect.forever(Effect.andThen(live(port), Effect.sleep(pause))), {
    concurrency: "unbounded",
    discard: true
  })
}).pipe(
  Effect.tapError((error) => Console.error(error.message)),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(cluster, { disableErrorReporting: true })
