import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "#sandbox/replaceFile.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { newWorldState, WorldState } from "#sandbox/WorldState.ts"

const Stored = Schema.fromJsonString(WorldState)

/** The world's state in memory, with every change written to `world.json` in DATA_DIR. */
export class WorldFile extends Context.Service<
  WorldFile,
  {
    readonly state: Effect.Effect<WorldState>
    /** Changes the state, one change at a time; the effect ends when the file has it. */
    readonly update: (change: (state: WorldState) => WorldState) => Effect.Effect<void, SandboxFailure>
  }
>()("ballast/sandbox/WorldFile") {
  static readonly layer = Layer.effect(
    WorldFile,
    Effect.gen(function* () {
      const { dataDir } = yield* WorldConfig
      const path = join(dataDir, "world.json")
      const writing = yield* Semaphore.make(1)

      const save = Effect.fnUntraced(function* (state: WorldState) {
        const text = yield* Schema.encodeEffect(Stored)(state).pipe(Effect.orDie)
        yield* replaceFile(path, text)
      })
      let current = yield* load(path)
      yield* save(current)

      return WorldFile.of({
        state: Effect.sync(() => current),
        update: Effect.fn("WorldFile.update")(function* (change) {
          yield* Semaphore.withPermit(
            writing,
            Effect.suspend(() => {
              current = change(current)
              return save(current)
            })
          )
        })
      })
    })
  )
}

const load = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () =>
      readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined
        throw cause
      }),
    catch: (cause) => new SandboxFailure({ message: `Could not read ${path}`, cause })
  })
  if (text === undefined) return yield* newWorldState
  return yield* Schema.decodeEffect(Stored)(text).pipe(
    Effect.mapError(
      (cause) =>
        new SandboxFailure({
          message: `${path} is not the state of a sandbox of this version. Start once with --reset`,
          cause
        })
    )
  )
})
