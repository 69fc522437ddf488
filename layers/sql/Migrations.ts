/**
 * Brings the schema up to date with the numbered files in `migrations/`: forward only, all pending ones in one
 * transaction. Processes that start together take turns.
 */
import { NodeServices } from "@effect/platform-node"
import { Layer } from "effect"
import { Migrator } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { fileURLToPath } from "node:url"

const run = Migrator.make({})({
  loader: MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../../migrations", import.meta.url))),
  table: "schema_migrations"
})

export const layer = Layer.effectDiscard(run).pipe(Layer.provide(NodeServices.layer))
