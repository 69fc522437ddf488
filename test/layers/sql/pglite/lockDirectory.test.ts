import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DirectoryInUse, lockDirectory } from "#layers/sql/pglite/lockDirectory.ts"

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "ballast-lock-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const holder = `
  import { Effect } from "effect"
  import { lockDirectory } from "#layers/sql/pglite/lockDirectory.ts"
  const held = Effect.andThen(lockDirectory(process.argv[1]), Effect.sync(() => console.log("held")))
  await Effect.runPromise(Effect.scoped(Effect.andThen(held, Effect.sleep("1 minute"))))`

/** Another process that holds the directory. */
const holdElsewhere = (directory: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", holder, directory], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await once(child.stdout, "data")
      return child
    }),
    (child) =>
      Effect.promise(async () => {
        if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit")
      })
  )

describe("lockDirectory", () => {
  it.live("creates the directory and gives it back when the scope closes", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporary, "a", "b")
      const scope = yield* Scope.make()
      yield* Scope.provide(lockDirectory(directory), scope)
      assert.isTrue(existsSync(directory))
      assert.deepStrictEqual(yield* Effect.exit(lockDirectory(directory)), Exit.fail(new DirectoryInUse({ directory })))
      yield* Scope.close(scope, Exit.void)
      yield* lockDirectory(directory)
    })
  )

  it.live("refuses a directory that another process holds, and says what to do", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporary, "postgres")
      yield* holdElsewhere(directory)
      const refused = yield* Effect.flip(lockDirectory(directory))
      assert.include(refused.message, directory)
      assert.include(refused.message, "DATA_DIR")
      assert.include(refused.message, "DATABASE_URL")
    })
  )

  it.live("is free again after the holder was killed", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporary, "postgres")
      const child = yield* holdElsewhere(directory)
      const exit = once(child, "exit")
      child.kill("SIGKILL")
      yield* Effect.promise(() => exit)
      yield* lockDirectory(directory)
    })
  )
})
