/** The processes of a killed sandbox are gone, with all they held, before the next one checks its ports. */
import { it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, requirePort } from "#sandbox/process/freePort.ts"
import { ProcessRegistry } from "#sandbox/process/ProcessRegistry.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const rounds = 5

/**
 * Listens on a port while four threads keep much memory busy. After SIGKILL the process shows as a zombie long before
 * its threads, and with them its socket, are gone.
 */
const crowded = `
  import { createServer } from "node:net"
  import { Worker } from "node:worker_threads"
  const busy = "const held = Array.from({ length: 2e6 }, (_, at) => ({ at })); setInterval(() => held.map(({ at }) => at), 10)"
  for (let thread = 0; thread < 4; thread += 1) new Worker(busy, { eval: true })
  createServer().listen(Number(process.argv[1]), "127.0.0.1", () => console.log("listens"))
`

const startedAt = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-registry-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

it.live("a port of a killed world is free once its processes are ended, threads and all", () =>
  Effect.gen(function* () {
    const dataDir = yield* folder
    for (let round = 0; round < rounds; round += 1) {
      const port = yield* freePort
      const left = spawn(process.execPath, ["--input-type=module", "-e", crowded, `${port}`])
      yield* Effect.addFinalizer(() => Effect.sync(() => left.kill("SIGKILL")))
      yield* Effect.promise(() => once(left.stdout, "data"))
      const entries = [{ role: "stream", pid: left.pid!, startedAt: startedAt(left.pid!) }]
      writeFileSync(join(dataDir, "processes.json"), JSON.stringify(entries))
      const config = WorldConfig.layer.pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: dataDir })))
      )
      yield* Layer.build(ProcessRegistry.layer(false).pipe(Layer.provide(config)))
      yield* requirePort(port, "STREAM_PORT")
    }
  }).pipe(Effect.scoped)
)
