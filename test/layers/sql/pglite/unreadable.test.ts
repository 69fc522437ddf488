/** A folder that this release's embedded database cannot open. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Pglite from "#layers/sql/pglite/Pglite.ts"
import { copyOfTemplate } from "#test/support/database.ts"

it.live("of another version is named, with what to do", () =>
  Effect.gen(function* () {
    const dataDir = yield* copyOfTemplate
    yield* Effect.promise(() => writeFile(join(dataDir, "postgres", "PG_VERSION"), "12\n"))
    const error = yield* Effect.flip(Layer.build(Pglite.layer(dataDir)))
    assert.strictEqual(error._tag, "DirectoryUnreadable")
    assert.include(error.message, `The embedded database in ${join(dataDir, "postgres")} cannot be opened`)
    assert.include(error.message, "Start the release that wrote it, restore the folder from a copy, or move it away")
  }).pipe(Effect.scoped)
)
