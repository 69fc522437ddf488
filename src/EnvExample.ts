/** `npm run env-example`: writes `.env.example` from the configuration (src/config/envExample.ts). */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { fileURLToPath } from "node:url"
import { programs } from "#src/Config.ts"
import { envExample } from "#src/config/envExample.ts"

const file = fileURLToPath(new URL("../.env.example", import.meta.url))

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFileString(file, yield* envExample(programs))
})

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
