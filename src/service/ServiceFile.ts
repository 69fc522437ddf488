/**
 * `DATA_DIR/service.json`: where the admin routes of a running service with an embedded database are, so that the
 * command line can ask it while it holds the database. Readable by its user alone, removed when the service ends.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path, Redacted } from "effect"
import type { ServiceConfig } from "#src/Config.ts"

export const ServiceFile = ({ adminToken, database, server }: ServiceConfig) => {
  if (database.url !== null || adminToken === null) return Layer.empty
  const write = Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).join(database.dataDir, "service.json")
    const content = JSON.stringify({
      adminUrl: `http://127.0.0.1:${server.port}`,
      adminToken: Redacted.value(adminToken)
    })
    yield* Effect.acquireRelease(
      Effect.andThen(files.remove(path, { force: true }), files.writeFileString(path, content, { mode: 0o600 })),
      () => Effect.ignore(files.remove(path, { force: true }))
    )
  })
  return Layer.effectDiscard(write).pipe(Layer.provide(NodeServices.layer))
}
