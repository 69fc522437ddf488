import { Config, Context, Effect, Layer } from "effect"
import { join, resolve } from "node:path"

const port = (name: string, fallback: number) => Config.Port(name).pipe(Config.withDefault(fallback))

/** Where a world lives. The one place of the world's program that reads the environment. */
export class WorldConfig extends Context.Service<
  WorldConfig,
  {
    /** The API's port (`PORT`). */
    readonly apiPort: number
    /** The stream worker's port (`STREAM_PORT`). */
    readonly streamPort: number
    /** The control server's port (`SANDBOX_PORT`). */
    readonly controlPort: number
    /** Absolute path of the world's folder (`DATA_DIR`). */
    readonly dataDir: string
    readonly apiBaseUrl: string
    readonly streamBaseUrl: string
    readonly controlBaseUrl: string
    /** The program that serves the API, started with the same Node (`API_PROGRAM`). */
    readonly apiProgram: string
    /** The program of the stream worker, started with the same Node (`STREAM_PROGRAM`). */
    readonly streamProgram: string
    /** The program of the price attestor, started with the same Node (`ATTESTOR_PROGRAM`). */
    readonly attestorProgram: string
    /** What the world was started with; the service gets all of it. */
    readonly environment: Readonly<Record<string, string | undefined>>
  }
>()("ballast/sandbox/WorldConfig") {
  static readonly layer = Layer.effect(
    WorldConfig,
    Effect.gen(function* () {
      const apiPort = yield* port("PORT", 3000)
      const streamPort = yield* port("STREAM_PORT", 3001)
      const controlPort = yield* port("SANDBOX_PORT", 3100)
      const dataDir = resolve(yield* Config.String("DATA_DIR").pipe(Config.withDefault(".data")))
      const apiProgram = yield* Config.String("API_PROGRAM").pipe(
        Config.withDefault(join(import.meta.dirname, "..", "src", "Api.ts"))
      )
      const streamProgram = yield* Config.String("STREAM_PROGRAM").pipe(
        Config.withDefault(join(import.meta.dirname, "..", "src", "StreamWorker.ts"))
      )
      const attestorProgram = yield* Config.String("ATTESTOR_PROGRAM").pipe(
        Config.withDefault(join(import.meta.dirname, "..", "src", "PriceAttestor.ts"))
      )
      return WorldConfig.of({
        apiPort,
        streamPort,
        controlPort,
        dataDir,
        apiBaseUrl: `http://127.0.0.1:${apiPort}`,
        streamBaseUrl: `http://127.0.0.1:${streamPort}`,
        controlBaseUrl: `http://127.0.0.1:${controlPort}`,
        apiProgram,
        streamProgram,
        attestorProgram,
        environment: process.env
      })
    })
  )
}
