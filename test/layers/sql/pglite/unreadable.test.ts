/** Folders that this release's embedded database cannot open. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdir, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"
import { copyOfTemplate } from "#test/support/database.ts"

const garbage = Buffer.alloc(8_192, 0xa5)

/** What a full disk, a copy that was broken off or another hand leave. */
const damages = [
  ["of another version", (folder: string) => writeFile(join(folder, "PG_VERSION"), "12\n")],
  ["without a word in its version", (folder: string) => truncate(join(folder, "PG_VERSION"), 0)],
  ["without its control file", (folder: string) => rm(join(folder, "global", "pg_control"))],
  ["with a control file of nothing", (folder: string) => truncate(join(folder, "global", "pg_control"), 0)],
  ["with a control file of garbage", (folder: string) => writeFile(join(folder, "global", "pg_control"), garbage)],
  ["without its log", (folder: string) => rm(join(folder, "pg_wal"), { recursive: true })],
  [
    "with a log of garbage",
    async (folder: string) => {
      const segments = (await readdir(join(folder, "pg_wal"))).filter((name) => /^[0-9A-F]{24}$/u.test(name))
      assert.isNotEmpty(segments)
      for (const name of segments) await writeFile(join(folder, "pg_wal", name), garbage)
    }
  ],
  [
    "with a map of its catalogue of garbage",
    (folder: string) => writeFile(join(folder, "global", "pg_filenode.map"), garbage)
  ]
] as const

it.live.each(damages)("one %s is named, with what to do", ([, damage]) =>
  Effect.gen(function* () {
    const dataDir = yield* copyOfTemplate
    const directory = join(dataDir, "postgres")
    yield* Effect.promise(() => damage(directory))
    const error = yield* Effect.flip(Layer.build(Pglite.layer(dataDir)))
    assert.strictEqual(error._tag, "DirectoryUnreadable")
    assert.include(error.message, `The embedded database in ${directory} cannot be opened`)
    assert.include(error.message, "Start the release that wrote it, restore the folder from a copy, or move it away")
  }).pipe(Effect.scoped)
)
