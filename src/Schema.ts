/** `npm run schema`: writes docs/schema.md from the schema that the migrations make in an embedded database. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import { fileURLToPath } from "node:url"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { schemaPage } from "#layers/sql/schemaPage.ts"

const file = fileURLToPath(new URL("../docs/schema.md", import.meta.url))

const migrated = Layer.unwrap(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
    (dataDir) =>
      Migrations.layer.pipe(
        Layer.provideMerge(Database.layer),
        Layer.provide(Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 }))
      )
  )
)

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const page = yield* Effect.provide(Effect.flatMap(Migrations.texts, schemaPage), migrated)
  yield* files.writeFileString(file, page)
})

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
